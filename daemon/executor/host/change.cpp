// Directories, attributes, removal of single objects.

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "daemon/base/try.hpp"
#include "daemon/executor/host/attributes.hpp"
#include "daemon/executor/host/durable.hpp"
#include "daemon/executor/host/files.hpp"
#include "daemon/executor/host/place.hpp"

namespace kubexm::executor {

namespace {

Result<Fd> open_directory(const Place& place) {
    constexpr int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    Fd directory{::openat(place.parent.get(), place.leaf.c_str(), flags)};
    if (!directory && (errno == ENOTDIR || errno == ELOOP)) {
        return fail(Code::conflict, place.path + " exists and is not a directory");
    }
    if (!directory) return from_errno("open", place.path);
    return directory;
}

/// Makes attributes durable. Opening anything but files and directories has effects.
Result<> sync_object(int pinned, mode_t mode, const Place& place) {
    if (!S_ISREG(mode) && !S_ISDIR(mode)) return sync_filesystem(place.parent.get(), place.path);
    const auto opened = TRY(reopen(pinned, O_RDONLY, place.path));
    return sync_file(opened.get(), place.path);
}

}  // namespace

Result<> make_directory(const Root& root, const std::string& path, const Attributes& attributes) {
    const auto place = TRY(find_place(root, path));
    TRY(make_private_directory(place.parent.get(), place.leaf, place.path));
    const auto directory = TRY(open_directory(place));
    TRY(apply_attributes(directory.get(), attributes, place.path));
    TRY(sync_directory(directory.get(), place.path));
    return sync_directory(place.parent.get(), place.path);
}

Result<> set_attributes(const Root& root, const std::string& path, const Attributes& attributes) {
    const auto place = TRY(find_place(root, path));
    const auto object = TRY(pin(place));
    const auto status = TRY(status_of(object.get(), place.path));
    if (S_ISREG(status.st_mode) && status.st_nlink > 1) {
        return fail(Code::conflict,
                    fmt::format("{} has {} hard links: the others would change with it", place.path,
                                status.st_nlink));
    }
    auto applied = apply_attributes(object.get(), attributes, place.path);
    auto synced = sync_object(object.get(), status.st_mode, place);
    return applied ? synced : applied;
}

Result<> remove_path(const Root& root, const std::string& path) {
    auto found = find_place(root, path);
    if (!found && found.error().code == Code::not_found) return {};
    const auto place = TRY(std::move(found));
    const auto unlinked = unlink_unless_directory(place.parent.get(), place.leaf);
    if (!unlinked) return from_errno("unlink", place.path, unlinked.error());
    if (!*unlinked) {
        const auto removed = remove_empty_directory(place.parent.get(), place.leaf);
        if (!removed) return from_errno("remove directory", place.path, removed.error());
        if (!*removed) return fail(Code::conflict, place.path + " is not empty");
    }
    // Also for an absent object: a removal before a power cut may not be durable yet.
    return sync_directory(place.parent.get(), place.path);
}

}  // namespace kubexm::executor
