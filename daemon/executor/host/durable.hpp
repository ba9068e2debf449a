#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "daemon/base/error.hpp"

// Private to the module: the system calls that change what is there after a power cut, each between
// its two crash points. `object` names the path for messages.

namespace kubexm::executor {

Result<> write_content(int fd, std::string_view bytes, std::string_view object);
Result<> sync_file(int fd, std::string_view object);
Result<> sync_directory(int fd, std::string_view object);

/// Everything of the file system that holds the descriptor: for objects that cannot be opened.
Result<> sync_filesystem(int fd, std::string_view object);

Result<> rename_within(int directory, const std::string& from, const std::string& to,
                       std::string_view object);

/// For its owner only, unless something of that name is there.
Result<> make_private_directory(int parent, const std::string& name, std::string_view object);
Result<> make_symlink(int parent, const std::string& name, const std::string& target,
                      std::string_view object);

// These two are called for every object of a tree, where a path for the message costs more than the
// call: they give the errno.

/// True where the name is gone, also where it never was; false where it is a directory.
std::expected<bool, int> unlink_unless_directory(int parent, const std::string& name);

/// True where the directory is gone, also where it never was; false where it is not empty.
std::expected<bool, int> remove_empty_directory(int parent, const std::string& name);

}  // namespace kubexm::executor
