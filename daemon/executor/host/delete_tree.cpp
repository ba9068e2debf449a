// Removing a directory with everything below it.

#include "daemon/executor/host/durable.hpp"
#include "daemon/executor/host/files.hpp"
#include "daemon/executor/host/place.hpp"
#include "daemon/executor/host/tree.hpp"

namespace kubexm::executor {

namespace {

Error fixed(const std::string& path) {
    return {Code::denied, path + " is immutable or append-only: see lsattr, chattr"};
}

/// Finds what would stop the removal half way, before anything is removed.
class Survey : public TreeWalk {
public:
    explicit Survey(const MayGoOn& may_go_on) : may_go_on_(may_go_on) {}

protected:
    Result<bool> meet(const std::string& name) override {
        if (auto good = may_go_on_(0); !good) return std::unexpected(good.error());
        const auto identity = identify(name);
        if (!identity && identity.error().code == Code::not_found) return false;
        if (!identity) return std::unexpected(identity.error());
        if (directory_identity().fixed) return std::unexpected(fixed(directory_path()));
        if (identity->fixed) return std::unexpected(fixed(path_of(name)));
        return identity->directory;
    }
    Result<bool> leave(const std::string& /*name*/) override { return true; }

private:
    const MayGoOn& may_go_on_;
};

class Removal : public TreeWalk {
public:
    explicit Removal(const MayGoOn& may_go_on) : may_go_on_(may_go_on) {}

protected:
    Result<bool> meet(const std::string& name) override {
        const auto gone = unlink_unless_directory(directory(), name);
        if (!gone) return from_errno("unlink", path_of(name), gone.error());
        if (!*gone) return true;
        if (auto good = may_go_on_(++removed_); !good) return std::unexpected(good.error());
        return false;
    }
    Result<bool> leave(const std::string& name) override {
        const auto gone = remove_empty_directory(directory(), name);
        if (!gone) return from_errno("remove directory", path_of(name), gone.error());
        if (!*gone) return false;
        if (auto good = may_go_on_(++removed_); !good) return std::unexpected(good.error());
        return true;
    }

private:
    const MayGoOn& may_go_on_;
    std::uint64_t removed_ = 0;
};

/// False where nothing is there. denied: a link. conflict: something else than a directory.
Result<bool> is_directory(const Place& place) {
    const auto object = pin(place);
    if (!object && object.error().code == Code::not_found) return false;
    if (!object) return std::unexpected(object.error());
    const auto seen = status_of(object->get(), place.path);
    if (!seen) return std::unexpected(seen.error());
    if (S_ISDIR(seen->st_mode)) return true;
    if (!S_ISLNK(seen->st_mode)) return fail(Code::conflict, place.path + " is no directory");
    return link_in_the_way(place.path);
}

}  // namespace

Result<> delete_tree(const Root& root, const std::string& path, const MayGoOn& may_go_on) {
    const auto place = find_place(root, path);
    if (!place && place.error().code == Code::not_found) return {};
    if (!place) return std::unexpected(place.error());
    const auto there = is_directory(*place);
    if (!there) return std::unexpected(there.error());
    if (*there) {
        if (auto clear = Survey(may_go_on).run(*place); !clear) return clear;
        if (auto removed = Removal(may_go_on).run(*place); !removed) return removed;
    }
    // Also where it was absent: who removed it may have been cut off before this.
    return sync_directory(place->parent.get(), place->path);
}

}  // namespace kubexm::executor
