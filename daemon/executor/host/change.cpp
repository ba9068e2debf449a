// Directories, attributes, removal of single objects.

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

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
        return fail(Code::conflict, place.path + " is there and is no directory");
    }
    if (!directory) return from_errno("open", place.path);
    return directory;
}

/// Makes attributes durable. Only files and directories can be opened to be synced alone.
Result<> sync_object(int pinned, mode_t mode, const Place& place) {
    if (!S_ISREG(mode) && !S_ISDIR(mode)) return sync_filesystem(place.parent.get(), place.path);
    const auto opened = reopen(pinned, O_RDONLY, place.path);
    if (!opened) return std::unexpected(opened.error());
    return sync_file(opened->get(), place.path);
}

}  // namespace

Result<> make_directory(const Root& root, const std::string& path, const Attributes& attributes) {
    const auto place = find_place(root, path);
    if (!place) return std::unexpected(place.error());
    auto made = make_private_directory(place->parent.get(), place->leaf, place->path);
    if (!made) return made;
    const auto directory = open_directory(*place);
    if (!directory) return std::unexpected(directory.error());
    auto done = apply_attributes(directory->get(), attributes, place->path);
    if (!done) return done;
    if (done = sync_directory(directory->get(), place->path); !done) return done;
    return sync_directory(place->parent.get(), place->path);
}

Result<> set_attributes(const Root& root, const std::string& path, const Attributes& attributes) {
    const auto place = find_place(root, path);
    if (!place) return std::unexpected(place.error());
    const auto object = pin(*place);
    if (!object) return std::unexpected(object.error());
    const auto seen = status_of(object->get(), place->path);
    if (!seen) return std::unexpected(seen.error());
    if (S_ISREG(seen->st_mode) && seen->st_nlink > 1) {
        return fail(Code::conflict,
                    fmt::format("{} has {} hard links: the others would change with it",
                                place->path, seen->st_nlink));
    }
    auto applied = apply_attributes(object->get(), attributes, place->path);
    auto synced = sync_object(object->get(), seen->st_mode, *place);
    return applied ? synced : applied;
}

Result<> remove_path(const Root& root, const std::string& path) {
    const auto place = find_place(root, path);
    if (!place && place.error().code == Code::not_found) return {};
    if (!place) return std::unexpected(place.error());
    const auto unlinked = unlink_unless_directory(place->parent.get(), place->leaf);
    if (!unlinked) return from_errno("unlink", place->path, unlinked.error());
    if (!*unlinked) {
        const auto removed = remove_empty_directory(place->parent.get(), place->leaf);
        if (!removed) return from_errno("remove directory", place->path, removed.error());
        if (!*removed) return fail(Code::conflict, place->path + " is not empty");
    }
    // Also where it was absent: who removed it may have been cut off before this.
    return sync_directory(place->parent.get(), place->path);
}

}  // namespace kubexm::executor
