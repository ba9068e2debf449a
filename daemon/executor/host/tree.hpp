#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/base/fd.hpp"
#include "daemon/executor/host/place.hpp"

// Private to the module: depth-first traversal of a directory tree.

namespace kubexm::executor {

struct FileIdentity {
    std::uint64_t mount = 0;
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    bool directory = false;
    bool immutable = false;  // or append-only

    bool same_object(const FileIdentity& other) const {
        return mount == other.mount && device == other.device && inode == other.inode;
    }
};

/// Visits every object below a directory without following links; another mount is `denied`. The
/// number of open descriptors is bounded at any depth.
class TreeWalk {
public:
    virtual ~TreeWalk() = default;
    TreeWalk(const TreeWalk&) = delete;
    TreeWalk& operator=(const TreeWalk&) = delete;

    Result<> run(const Place& place);

protected:
    TreeWalk() = default;

    /// Called for every object before its children. True: a directory to descend into.
    virtual Result<bool> visit(const std::string& name) = 0;
    /// Called for every directory after its children. False: visit its children again.
    virtual Result<bool> leave(const std::string& name) = 0;

    /// The parent of the object that is visited or left.
    int directory() const { return frames_.back().fd.get(); }
    const FileIdentity& directory_identity() const { return frames_.back().identity; }
    std::string directory_path() const { return path_.empty() ? "/" : shown(path_); }

    /// The path of a child of that directory, for messages.
    std::string path_of(const std::string& name) const { return shown(path_ + "/" + name); }
    /// denied: on another mount.
    Result<FileIdentity> identify(const std::string& name) const;

private:
    /// One directory on the way from the parent of the root of the tree to the current one.
    struct Frame {
        Fd fd;  // closed while the traversal is far below
        FileIdentity identity;
        std::string name;
        std::vector<std::string> pending;  // directories to descend into
        int repeats = 0;                   // visits of the last of them after the first
    };

    Result<> next();
    Result<> visit_child(const std::string& name);
    Result<> descend(const std::string& name);
    Result<> scan();
    Result<> ascend();
    Result<> reopen_parent();
    Result<> check_mount(const FileIdentity& identity, const std::string& name) const;

    std::vector<Frame> frames_;
    std::string path_;  // of the last frame
};

}  // namespace kubexm::executor
