#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/base/fd.hpp"
#include "daemon/executor/host/place.hpp"

// Private to the module: a walk through a directory and everything below it.

namespace kubexm::executor {

/// Which object on which mount it is, and whether the file system lets anybody remove it.
struct Identity {
    std::uint64_t mount = 0;
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    bool directory = false;
    bool fixed = false;  // immutable or append-only

    bool same_object(const Identity& other) const {
        return mount == other.mount && device == other.device && inode == other.inode;
    }
};

/// Goes down into every directory, without following links and without leaving the mount of the
/// directory it began in: another mount is `denied`. At any depth only a few descriptors are open.
class TreeWalk {
public:
    virtual ~TreeWalk() = default;
    TreeWalk(const TreeWalk&) = delete;
    TreeWalk& operator=(const TreeWalk&) = delete;

    /// Walks the object at `place`.
    Result<> run(const Place& place);

protected:
    TreeWalk() = default;

    /// At every object, before what is below it. True: a directory to go down into.
    virtual Result<bool> meet(const std::string& name) = 0;
    /// At every directory when all below it was met. True: done with it; false: go through it once
    /// more.
    virtual Result<bool> leave(const std::string& name) = 0;

    /// The directory that holds the name that is met or left.
    int directory() const { return frames_.back().fd.get(); }
    const Identity& directory_identity() const { return frames_.back().identity; }
    std::string directory_path() const { return here_.empty() ? "/" : shown(here_); }

    /// The path of a name in that directory, for messages.
    std::string path_of(const std::string& name) const { return shown(here_ + "/" + name); }
    /// Who it is. denied: on another mount.
    Result<Identity> identify(const std::string& name) const;

private:
    /// One directory on the way from the parent of the top to where the walk is.
    struct Frame {
        Fd fd;  // closed while the walk is far below
        Identity identity;
        std::string name;
        std::vector<std::string> todo;  // directories to go down into
        int repeats = 0;                // how often the last of them was gone through again
    };

    Result<> next();
    Result<> offer(const std::string& name);
    Result<> descend(const std::string& name);
    Result<> scan();
    Result<> ascend();
    Result<> reopen_parent();
    Result<> check_mount(const Identity& identity, const std::string& name) const;

    std::vector<Frame> frames_;
    std::string here_;  // path of the directory that the last frame is
};

}  // namespace kubexm::executor
