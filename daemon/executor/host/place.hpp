#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <string>
#include <string_view>

#include "daemon/base/error.hpp"
#include "daemon/base/fd.hpp"
#include "daemon/executor/host/files.hpp"

// Private to the module: resolves a path once, to descriptors that no rename can redirect.

namespace kubexm::executor {

inline constexpr int kOpenDirectory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

/// The name of an object, existing or not, in an open directory.
struct Place {
    Fd parent;  // open for reading, so that it can be synced
    std::string leaf;
    std::string requested;  // path
    std::string path;       // the same for messages, as in shown()
};

/// Opens the parent of a path without following symbolic links; the leaf is not accessed. invalid:
/// not a plain absolute path. denied: a symbolic link on the way. not_found: no parent.
Result<Place> find_place(const Root& root, const std::string& path);

/// An O_PATH descriptor of the object, which is neither opened nor followed. not_found: absent.
Result<Fd> pin(const Place& place);

Result<struct stat> status_of(int fd, std::string_view object);

/// Opens a pinned object. Only for files and directories: opening a pipe or device has effects.
Result<Fd> reopen(int pinned, int flags, std::string_view object);

/// "/proc/self/fd/7", for calls that only take paths.
std::string path_to(int fd);

/// denied: the object is a symbolic link.
std::unexpected<Error> symlink_denied(std::string_view object);

/// A path for a message: printable and of bounded length.
std::string shown(std::string_view path);

}  // namespace kubexm::executor
