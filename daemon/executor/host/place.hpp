#pragma once

#include <sys/stat.h>

#include <string>
#include <string_view>

#include "daemon/base/error.hpp"
#include "daemon/base/fd.hpp"
#include "daemon/executor/host/files.hpp"

// Private to the module: how a path becomes a descriptor that nobody can swap under us.

namespace kubexm::executor {

/// Where an object is or will be: its name in a directory that is held open.
struct Place {
    Fd parent;  // for reading, so that it can be synced
    std::string leaf;
    std::string asked;  // the path it was found by
    std::string path;   // the same for messages, as in shown()
};

/// Opens the parent of a path; nothing on the way is a symbolic link. The leaf is not looked at.
/// invalid: not a plain absolute path. denied: a link, named. not_found: no parent, named.
Result<Place> find_place(const Root& root, const std::string& path);

/// The object itself, neither opened nor followed (O_PATH): what is learned from the descriptor
/// and what is done through it concern the same object. not_found: there is none.
Result<Fd> pin(const Place& place);

Result<struct stat> status_of(int fd, std::string_view object);

/// Opens the object behind a pinned descriptor itself. Only for files and directories: to open a
/// pipe or a device has effects.
Result<Fd> reopen(int pinned, int flags, std::string_view object);

/// "/proc/self/fd/7": the object behind a descriptor for calls that only take paths.
std::string path_to(int fd);

/// denied: the object is a symbolic link.
std::unexpected<Error> link_in_the_way(std::string_view object);

/// A path for a message: printable and of bounded length.
std::string shown(std::string_view path);

}  // namespace kubexm::executor
