#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "daemon/executor/host/files.hpp"
#include "daemon/executor/host/place.hpp"

namespace kubexm::executor {

namespace {

using Stream = std::unique_ptr<DIR, decltype([](DIR* stream) { ::closedir(stream); })>;

Result<Stream> open_stream(const Root& root, const std::string& path) {
    auto place = find_place(root, path);
    if (!place) return std::unexpected(place.error());
    auto pinned = pin(*place);
    if (!pinned) return std::unexpected(pinned.error());
    auto seen = status_of(pinned->get(), place->path);
    if (!seen) return std::unexpected(seen.error());
    if (S_ISLNK(seen->st_mode)) return link_in_the_way(place->path);
    auto directory = reopen(pinned->get(), O_RDONLY | O_DIRECTORY, place->path);
    if (!directory) return std::unexpected(directory.error());
    Stream stream{::fdopendir(directory->get())};
    if (!stream) return from_errno("open", place->path);
    (void)directory->release();  // the stream closes it
    return stream;
}

}  // namespace

Result<std::vector<std::string>> list_directory(const Root& root, const std::string& path,
                                                std::size_t limit) {
    auto stream = open_stream(root, path);
    if (!stream) return std::unexpected(stream.error());
    std::vector<std::string> names;
    for (;;) {
        errno = 0;
        const dirent* entry =
            ::readdir(stream->get());  // NOLINT(concurrency-mt-unsafe): own stream
        if (entry == nullptr && errno != 0) return from_errno("read", shown(path));
        if (entry == nullptr) break;
        const std::string name = entry->d_name;
        if (name == "." || name == "..") continue;
        if (names.size() == limit) {
            return fail(Code::exhausted,
                        fmt::format("{} has more than {} entries", shown(path), limit));
        }
        names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace kubexm::executor
