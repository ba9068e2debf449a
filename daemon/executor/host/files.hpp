#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/base/deadline.hpp"
#include "daemon/base/error.hpp"
#include "daemon/base/fd.hpp"
#include "daemon/base/names.hpp"

namespace kubexm::executor {

/// A file tree seen through one directory: "/" on a host, a scratch directory in a test.
/// Paths are absolute and resolved beneath the root without following symbolic links: a link on the
/// way is `denied`, and the error names it. "..", "." and empty components are `invalid`. No path
/// is resolved twice: the checked object is the changed object.
class Root {
public:
    static Result<Root> open(const std::string& directory);
    int fd() const { return fd_.get(); }

private:
    explicit Root(Fd fd) : fd_(std::move(fd)) {}
    Fd fd_;
};

/// `other`: a device, pipe or socket.
enum class PathKind { absent, file, directory, symlink, other };

/// Everything about an object that undo restores. Extended attributes include ACLs, capabilities
/// and security labels.
struct PathState {
    PathKind kind = PathKind::absent;
    std::string digest;  // SHA-256 of a file; empty: not read, or larger than the limit
    std::string target;  // symlink
    std::uint32_t mode = 0;
    std::uint32_t uid = 0;
    std::uint32_t gid = 0;
    std::map<std::string, std::string> xattrs;
    std::uint64_t links = 0;  // file: hard links

    bool operator==(const PathState&) const = default;
};

struct Attributes {
    std::uint32_t mode = 0;
    std::uint32_t uid = 0;
    std::uint32_t gid = 0;
    // Other user.*, trusted.*, access control lists and capabilities are removed; other labels of
    // security modules (security.selinux, ...) stay.
    std::map<std::string, std::string> xattrs;
};

/// timeout: the deadline passed. For loops whose length others control.
Result<> in_time(Deadline deadline, std::string_view object);

struct ReadLimit {
    std::uint64_t bytes = 0;
    Deadline deadline;
};

/// The state of an object without content: files are not opened. An absent object is a state;
/// not_found: its parent is missing.
Result<PathState> inspect(const Root& root, const std::string& path);

/// The same with the digest of a file. timeout: the deadline passed.
Result<PathState> inspect_content(const Root& root, const std::string& path,
                                  const ReadLimit& limit);

/// The names in a directory, sorted. exhausted: more than `limit`.
Result<std::vector<std::string>> list_directory(const Root& root, const std::string& path,
                                                std::size_t limit);

/// A regular file, for reading. denied: a symbolic link. conflict: another kind of object.
Result<Fd> open_file(const Root& root, const std::string& path);

/// Not for secrets: the content is not wiped. exhausted: more than `limit` bytes. Otherwise as
/// open_file.
Result<std::string> read_file(const Root& root, const std::string& path, std::size_t limit);

/// Replaces or creates a regular file, atomically and durably: temporary file beside it,
/// attributes, fsync, rename, fsync of the directory. At any instant the path holds the complete
/// old or new file. A symbolic link at the path is itself replaced. conflict: a directory, pipe,
/// socket, device, or file with several hard links. exhausted, denied: disk full, read-only, an
/// attribute that we may not set; the old file is intact and the temporary file removed.
Result<> replace_file(const Root& root, const std::string& path, std::string_view content,
                      const Attributes& attributes);

/// The same with the content of a file descriptor, not of a pipe, which could block. invalid: its
/// SHA-256 is not `digest`, or it exceeds the limit.
Result<> replace_file_from(const Root& root, const std::string& path, int source,
                           std::string_view digest, const ReadLimit& limit,
                           const Attributes& attributes);

/// Creates a directory or sets the attributes of an existing one, durably. A new one has mode 0700
/// until its attributes are set. conflict: another kind of object. not_found: no parent.
Result<> make_directory(const Root& root, const std::string& path, const Attributes& attributes);

/// Creates a symbolic link, or replaces a symbolic link or file by one, atomically and durably. The
/// mode is ignored. Otherwise as replace_file.
Result<> replace_symlink(const Root& root, const std::string& path, const std::string& target,
                         const Attributes& attributes);

/// Sets mode, owner and extended attributes of an existing object, durably and without following
/// links. All are tried; the error names each failure. conflict: a file with several hard links.
Result<> set_attributes(const Root& root, const std::string& path, const Attributes& attributes);

/// Removes a file, link or empty directory, durably. Success where it is absent. conflict: the
/// directory is not empty.
Result<> remove_path(const Root& root, const std::string& path);

/// Removes a directory with everything below it, durably, at any depth with a bounded number of
/// descriptors. Success where it is absent. Symbolic links below it are not followed. denied, with
/// nothing removed: it is a symbolic link, or it contains a mount point or an immutable object.
/// conflict: not a directory, or it is filled faster than it is emptied. `on_progress` is called
/// for every object before the first removal and after its own; its error ends the removal, which a
/// later call resumes.
using OnProgress = std::function<Result<>(std::uint64_t removed)>;
Result<> delete_tree(
    const Root& root, const std::string& path,
    const OnProgress& on_progress = [](std::uint64_t) { return Result<>(); });

/// Removes the temporary file of an interrupted replace_file or replace_symlink of this path.
Result<> remove_leftovers(const Root& root, const std::string& path);

}  // namespace kubexm::executor

namespace kubexm {

template <>
struct Names<executor::PathKind> {
    using enum executor::PathKind;
    static constexpr std::array<std::pair<executor::PathKind, std::string_view>, 5> kAll{{
        {absent, "absent"},
        {file, "file"},
        {directory, "directory"},
        {symlink, "symlink"},
        {other, "other"},
    }};
};

}  // namespace kubexm
