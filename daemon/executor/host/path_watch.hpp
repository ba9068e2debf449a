#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/base/fd.hpp"
#include "daemon/executor/host/files.hpp"

namespace kubexm::executor {

/// Says when something happened to one of a set of paths, by inotify. Every directory on the way is
/// watched as well: a path may vanish with its parent, and come back. One thread.
class PathWatch {
public:
    static Result<PathWatch> create(const Root& root);

    /// Readable when changed() has something to read.
    int fd() const { return inotify_.get(); }

    /// From now on these paths, and no others. Call it again after a change: a directory that was
    /// replaced has to be watched anew. True: a directory is watched that was not before, so that
    /// earlier changes in it were missed. An error: of a directory that is not watched; the others
    /// are. exhausted: names the kernel's limit.
    Result<bool> watch(const std::vector<std::string>& paths);

    /// Whether an event since the last call concerns a watched path. Does not wait.
    Result<bool> changed();

private:
    PathWatch(Fd root, Fd inotify) : root_(std::move(root)), inotify_(std::move(inotify)) {}
    Result<int> watch_directory(const std::string& path);
    bool concerns(int watched, const char* name) const;

    Fd root_;
    Fd inotify_;
    std::map<int, std::set<std::string>> names_;  // by watched directory, its entries of interest
};

}  // namespace kubexm::executor
