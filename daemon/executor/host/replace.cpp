// Atomic replacement of files and symbolic links.

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "daemon/base/crash_point.hpp"
#include "daemon/base/digest.hpp"
#include "daemon/base/io.hpp"
#include "daemon/base/refusal.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/host/attributes.hpp"
#include "daemon/executor/host/durable.hpp"
#include "daemon/executor/host/files.hpp"
#include "daemon/executor/host/place.hpp"

namespace kubexm::executor {

namespace {

/// Stable, so that a later run finds the file of an interrupted one; hidden and without a suffix,
/// so that programs which read the directory ignore it.
std::string temporary_name(const Place& place) {
    return ".kubexm-" + sha256(place.leaf).substr(0, 32);
}

Result<> remove_temporary(const Place& place) {
    const std::string name = temporary_name(place);
    const auto unlinked = unlink_unless_directory(place.parent.get(), name);
    if (!unlinked) return from_errno("unlink the temporary file of", place.path, unlinked.error());
    if (*unlinked) return {};
    return fail(Code::conflict, fmt::format("{}: its temporary file {} is a directory; remove it",
                                            place.path, name));
}

/// The new object under its temporary name. Removed unless committed.
class TempFile {
public:
    explicit TempFile(const Place& place) : place_(place), name_(temporary_name(place)) {}
    TempFile(const TempFile&) = delete;
    TempFile& operator=(const TempFile&) = delete;
    ~TempFile() {
        if (created_) ::unlinkat(place_.parent.get(), name_.c_str(), 0);
    }

    /// Open for writing, with mode 0600.
    Result<Fd> make_file() {
        TRY(remove_temporary(place_));
        crash_point("file.create.before");
        constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
        Fd file{::openat(place_.parent.get(), name_.c_str(), flags, 0600)};
        if (!file) return from_errno("create", place_.path);
        created_ = true;
        crash_point("file.create.after");
        return file;
    }

    /// Pinned.
    Result<Fd> make_link(const std::string& target) {
        TRY(remove_temporary(place_));
        TRY(make_symlink(place_.parent.get(), name_, target, place_.path));
        created_ = true;
        Fd link{::openat(place_.parent.get(), name_.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC)};
        if (!link) return from_errno("open", place_.path);
        TRY(check_link(link.get()));
        return link;
    }

    Result<> commit() {
        TRY(rename_within(place_.parent.get(), name_, place_.leaf, place_.path));
        created_ = false;
        return sync_directory(place_.parent.get(), place_.path);
    }

private:
    /// symlinkat returns no descriptor: a process that may write to the directory could have
    /// swapped the link for a hard link to a foreign file, which must not get our owner and mode.
    Result<> check_link(int link) const {
        const auto status = TRY(status_of(link, place_.path));
        if (S_ISLNK(status.st_mode) && status.st_nlink == 1) return {};
        return fail(Code::conflict,
                    place_.path +
                        ": another process replaced the new link; check which process "
                        "writes to its directory");
    }

    const Place& place_;
    std::string name_;
    bool created_ = false;
};

/// conflict: a directory, special file, or file with several hard links.
Result<> check_replaceable(const Place& place) {
    struct stat status{};
    if (::fstatat(place.parent.get(), place.leaf.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno == ENOENT) return {};
        return from_errno("stat", place.path);
    }
    if (S_ISLNK(status.st_mode)) return {};
    if (S_ISDIR(status.st_mode)) return fail(Code::conflict, place.path + " is a directory");
    if (!S_ISREG(status.st_mode)) {
        return fail(Code::conflict, place.path + " is neither a file nor a symbolic link");
    }
    if (status.st_nlink > 1) {
        return fail(Code::conflict,
                    fmt::format("{} has {} hard links: the others would keep the old content",
                                place.path, status.st_nlink));
    }
    return {};
}

/// `write(fd, object)` writes the content.
template <typename Write>
Result<> replace_with(const Root& root, const std::string& path, const Attributes& attributes,
                      const Write& write) {
    const auto place = TRY(find_place(root, path));
    TRY(check_replaceable(place));
    TempFile temp(place);
    const auto file = TRY(temp.make_file());
    TRY(write(file.get(), place.path));
    // After the last write, which clears capabilities and set-uid bits.
    TRY(apply_attributes(file.get(), attributes, place.path));
    TRY(sync_file(file.get(), place.path));
    return temp.commit();
}

/// Returns the digest of the content.
Result<std::string> copy(int source, int file, const ReadLimit& limit, std::string_view object) {
    WipedBuffer buffer;
    Sha256 digest;
    for (std::uint64_t left = limit.bytes;;) {
        TRY(in_time(limit.deadline, object));
        const auto bytes = buffer.read(source, object);
        if (!bytes) return during("reading the new content", bytes.error());
        if (bytes->empty()) return digest.finish();
        if (bytes->size() > left) {
            TRY(refusal("written-size", Code::invalid,
                        fmt::format("the new content of {}: expected at most {} bytes", object,
                                    limit.bytes)));
        }
        left -= std::min<std::uint64_t>(left, bytes->size());
        digest.update(*bytes);
        TRY(write_content(file, *bytes, object));
    }
}

}  // namespace

Result<> replace_file(const Root& root, const std::string& path, std::string_view content,
                      const Attributes& attributes) {
    return replace_with(root, path, attributes, [content](int file, std::string_view object) {
        return write_content(file, content, object);
    });
}

Result<> replace_file_from(const Root& root, const std::string& path, int source,
                           std::string_view digest, const ReadLimit& limit,
                           const Attributes& attributes) {
    const auto write = [source, digest, &limit](int file, std::string_view object) -> Result<> {
        const auto copied = TRY(copy(source, file, limit, object));
        if (copied == digest) return {};
        return refusal("written-digest", Code::invalid,
                       fmt::format("the new content of {}: expected SHA-256 {}, found {}", object,
                                   digest, copied));
    };
    return replace_with(root, path, attributes, write);
}

Result<> replace_symlink(const Root& root, const std::string& path, const std::string& target,
                         const Attributes& attributes) {
    const auto place = TRY(find_place(root, path));
    if (target.empty() || target.find('\0') != std::string::npos) {
        return fail(Code::invalid,
                    place.path + ": expected a target that is not empty and has no NUL byte");
    }
    TRY(check_replaceable(place));
    TempFile temp(place);
    const auto link = TRY(temp.make_link(target));
    TRY(apply_attributes(link.get(), attributes, place.path));
    return temp.commit();
}

Result<> remove_leftovers(const Root& root, const std::string& path) {
    auto found = find_place(root, path);
    if (!found && found.error().code == Code::not_found) return {};
    const auto place = TRY(std::move(found));
    TRY(remove_temporary(place));
    return sync_directory(place.parent.get(), place.path);
}

}  // namespace kubexm::executor
