#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "daemon/base/try.hpp"
#include "daemon/executor/host/files.hpp"
#include "daemon/executor/host/place.hpp"

namespace kubexm::executor {

namespace {

Result<DirectoryStream> open_stream(const Root& root, const std::string& path) {
    const auto place = TRY(find_place(root, path));
    const auto pinned = TRY(pin(place));
    const auto status = TRY(status_of(pinned.get(), place.path));
    if (S_ISLNK(status.st_mode)) return symlink_denied(place.path);
    auto directory = TRY(reopen(pinned.get(), O_RDONLY | O_DIRECTORY, place.path));
    DirectoryStream stream{::fdopendir(directory.get())};
    if (!stream) return from_errno("open", place.path);
    (void)directory.release();  // the stream closes it
    return stream;
}

}  // namespace

Result<std::vector<std::string>> list_directory(const Root& root, const std::string& path,
                                                std::size_t limit) {
    const auto stream = TRY(open_stream(root, path));
    std::vector<std::string> names;
    for (;;) {
        errno = 0;
        const dirent* entry = ::readdir(stream.get());  // NOLINT(concurrency-mt-unsafe): own stream
        if (entry == nullptr && errno != 0) return from_errno("read", shown(path));
        if (entry == nullptr) break;
        const std::string name = entry->d_name;
        if (name == "." || name == "..") continue;
        if (names.size() == limit) {
            return fail(Code::exhausted,
                        fmt::format("{}: expected at most {} entries", shown(path), limit));
        }
        names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace kubexm::executor
