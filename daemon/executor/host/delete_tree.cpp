// Removal of a directory with everything below it.

#include <utility>

#include "daemon/base/try.hpp"
#include "daemon/executor/host/durable.hpp"
#include "daemon/executor/host/files.hpp"
#include "daemon/executor/host/place.hpp"
#include "daemon/executor/host/tree.hpp"

namespace kubexm::executor {

namespace {

std::unexpected<Error> immutable(const std::string& path) {
    return fail(Code::denied, path + " is immutable or append-only: see lsattr, chattr");
}

/// Finds mounts and immutable objects before anything is removed.
class Precheck : public TreeWalk {
public:
    explicit Precheck(const OnProgress& on_progress) : on_progress_(on_progress) {}

protected:
    Result<bool> visit(const std::string& name) override {
        TRY(on_progress_(0));
        const auto found = identify(name);
        if (!found && found.error().code == Code::not_found) return false;
        const FileIdentity identity = TRY(found);
        if (directory_identity().immutable) return immutable(directory_path());
        if (identity.immutable) return immutable(path_of(name));
        return identity.directory;
    }
    Result<bool> leave(const std::string& /*name*/) override { return true; }

private:
    const OnProgress& on_progress_;
};

class Removal : public TreeWalk {
public:
    explicit Removal(const OnProgress& on_progress) : on_progress_(on_progress) {}

protected:
    Result<bool> visit(const std::string& name) override {
        const auto unlinked = unlink_unless_directory(directory(), name);
        if (!unlinked) return from_errno("unlink", path_of(name), unlinked.error());
        if (!*unlinked) return true;
        TRY(on_progress_(++removed_));
        return false;
    }
    Result<bool> leave(const std::string& name) override {
        const auto removed = remove_empty_directory(directory(), name);
        if (!removed) return from_errno("remove directory", path_of(name), removed.error());
        if (!*removed) return false;
        TRY(on_progress_(++removed_));
        return true;
    }

private:
    const OnProgress& on_progress_;
    std::uint64_t removed_ = 0;
};

/// False: absent. denied: a symbolic link. conflict: another kind of object.
Result<bool> is_directory(const Place& place) {
    auto object = pin(place);
    if (!object && object.error().code == Code::not_found) return false;
    const Fd pinned = TRY(std::move(object));
    const auto status = TRY(status_of(pinned.get(), place.path));
    if (S_ISDIR(status.st_mode)) return true;
    if (!S_ISLNK(status.st_mode)) return fail(Code::conflict, place.path + " is not a directory");
    return symlink_denied(place.path);
}

}  // namespace

Result<> delete_tree(const Root& root, const std::string& path, const OnProgress& on_progress) {
    auto found = find_place(root, path);
    if (!found && found.error().code == Code::not_found) return {};
    const auto place = TRY(std::move(found));
    const bool exists = TRY(is_directory(place));
    if (exists) {
        TRY(Precheck(on_progress).run(place));
        TRY(Removal(on_progress).run(place));
    }
    // Also for an absent tree: a removal before a power cut may not be durable yet.
    return sync_directory(place.parent.get(), place.path);
}

}  // namespace kubexm::executor
