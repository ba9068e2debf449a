#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "daemon/base/error.hpp"

// Private to the module: the system calls that change the state after a power cut, each between two
// crash points. `object` names the path for messages.

namespace kubexm::executor {

Result<> write_content(int fd, std::string_view bytes, std::string_view object);
Result<> sync_file(int fd, std::string_view object);
Result<> sync_directory(int fd, std::string_view object);

/// Syncs the whole file system of the descriptor, for objects that must not be opened.
Result<> sync_filesystem(int fd, std::string_view object);

Result<> rename_within(int directory, const std::string& from, const std::string& to,
                       std::string_view object);

/// Mode 0700. Success where the name exists already.
Result<> make_private_directory(int parent, const std::string& name, std::string_view object);
Result<> make_symlink(int parent, const std::string& name, const std::string& target,
                      std::string_view object);

// Called for every object of a tree, where building the path of a message costs more than the call:
// the error is the errno.

/// True: the name is absent now. False: it is a directory.
std::expected<bool, int> unlink_unless_directory(int parent, const std::string& name);

/// True: the name is absent now. False: the directory is not empty.
std::expected<bool, int> remove_empty_directory(int parent, const std::string& name);

}  // namespace kubexm::executor
