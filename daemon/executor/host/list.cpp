#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>

#include "daemon/base/io.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/host/files.hpp"
#include "daemon/executor/host/place.hpp"

namespace kubexm::executor {

namespace {

Result<Fd> open_directory(const Root& root, const std::string& path) {
    const auto place = TRY(find_place(root, path));
    const auto pinned = TRY(pin(place));
    const auto status = TRY(status_of(pinned.get(), place.path));
    if (S_ISLNK(status.st_mode)) return symlink_denied(place.path);
    return reopen(pinned.get(), O_RDONLY | O_DIRECTORY, place.path);
}

}  // namespace

Result<std::vector<std::string>> list_directory(const Root& root, const std::string& path,
                                                std::size_t limit) {
    auto directory = TRY(open_directory(root, path));
    std::vector<std::string> names;
    TRY(each_entry(std::move(directory), shown(path), [&](const std::string& name) -> Result<> {
        if (names.size() == limit) {
            return fail(
                Code::exhausted,
                fmt::format(
                    "{}: expected at most {} entries, found more; remove those that are not needed",
                    shown(path), limit));
        }
        names.push_back(name);
        return {};
    }));
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace kubexm::executor
