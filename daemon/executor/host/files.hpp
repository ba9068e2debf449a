#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/base/fd.hpp"

namespace kubexm::executor {

/// A file tree seen through one directory: "/" on a host, a scratch directory in a test.
/// Every path below is absolute and resolved beneath the root, component by component, without
/// following any symbolic link: a link in the way is `denied` and names the component. "..", "."
/// and empty components are `invalid`. Nothing here looks a path up twice: what was checked is what
/// is changed.
class Root {
public:
    static Result<Root> open(const std::string& directory);
    int fd() const { return fd_.get(); }

private:
    explicit Root(Fd fd) : fd_(std::move(fd)) {}
    Fd fd_;
};

enum class PathKind { absent, file, directory, symlink, other };

/// Everything about an object that undo has to give back. Extended attributes include ACLs,
/// capabilities and security labels.
struct PathState {
    PathKind kind = PathKind::absent;
    std::string digest;  // file, if its content was read: SHA-256
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
    // Beyond these none stays of user.*, trusted.*, access control lists and capabilities; the
    // labels of security modules (security.selinux, ...) only change where they are given here.
    std::map<std::string, std::string> xattrs;
};

/// timeout: the deadline is over. Asked wherever somebody else decides how much there is to do.
Result<> in_time(std::chrono::steady_clock::time_point deadline, std::string_view object);

/// How much content is read at most, and until when.
struct Effort {
    std::uint64_t bytes = 0;
    std::chrono::steady_clock::time_point deadline;
};

/// What is there, but for the content of a file, which is not even opened. not_found only where the
/// parent is missing: an absent object is a state.
Result<PathState> inspect(const Root& root, const std::string& path);

/// The same with the digest of a file's content. exhausted: it has more bytes. timeout: it is slow.
Result<PathState> inspect_content(const Root& root, const std::string& path, const Effort& effort);

/// The names in a directory, sorted. exhausted: more than `limit`.
Result<std::vector<std::string>> list_directory(const Root& root, const std::string& path,
                                                std::size_t limit);

/// A regular file, for reading. denied: a link. conflict: something else.
Result<Fd> open_file(const Root& root, const std::string& path);

/// Its whole content of at most `limit` bytes; stays in memory, so not for secrets. exhausted:
/// larger. Else as open_file.
Result<std::string> read_file(const Root& root, const std::string& path, std::size_t limit);

/// Replaces or makes a regular file, atomically and durably: temporary neighbour, attributes,
/// fsync, rename, fsync of the directory. At any instant the path holds the old or the new file
/// whole. A symbolic link at the path is itself replaced. conflict: the path is a directory, a
/// pipe, socket or device, or a file with several hard links. exhausted, denied: disk full,
/// read-only, an attribute that we may not set (each is named); the old file is intact and the
/// temporary one is gone.
Result<> replace_file(const Root& root, const std::string& path, std::string_view content,
                      const Attributes& attributes);

/// The same, with the content read from a descriptor to its end (of a file: reading a pipe could
/// block); invalid where its SHA-256 is not `digest` or it has more bytes than `effort` says.
Result<> replace_file_from(const Root& root, const std::string& path, int source,
                           std::string_view digest, const Effort& effort,
                           const Attributes& attributes);

/// Makes a directory, durably, or gives the one that is there these attributes; conflict where
/// something else is there. The parent must exist. For its owner only until it has them.
Result<> make_directory(const Root& root, const std::string& path, const Attributes& attributes);

/// Makes a symbolic link or replaces a symbolic link or file by one, atomically and durably. A
/// link has no mode of its own. Otherwise as replace_file.
Result<> replace_symlink(const Root& root, const std::string& path, const std::string& target,
                         const Attributes& attributes);

/// Mode, owner and extended attributes of what is there (not through a link), durably. All are
/// tried; denied names each one that we may not set. conflict: a file with several hard links.
Result<> set_attributes(const Root& root, const std::string& path, const Attributes& attributes);

/// Removes a file, link or empty directory, durably; an absent path is success. conflict: a
/// directory that is not empty.
Result<> remove_path(const Root& root, const std::string& path);

/// Removes a directory with everything below it, durably; an absent path is success. denied, with
/// nothing removed, where it is or has below it a mount point or something immutable (naming it),
/// or is a link; links below it are removed, not followed. conflict: a file, or a directory that
/// somebody keeps filling. Works at any depth with a bounded number of descriptors. `may_go_on` is
/// asked at every object, when it is looked at and when it is gone, and told how many are gone;
/// its error ends the removal, and a later one goes on with what is left.
using MayGoOn = std::function<Result<>(std::uint64_t removed)>;
Result<> delete_tree(
    const Root& root, const std::string& path,
    const MayGoOn& may_go_on = [](std::uint64_t) { return Result<>(); });

/// Removes what an interrupted replace_file or replace_symlink of this path left beside it.
Result<> remove_leftovers(const Root& root, const std::string& path);

}  // namespace kubexm::executor
