// Replacing files and links so that there is the old or the new one at every instant.

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "daemon/base/crash_point.hpp"
#include "daemon/base/digest.hpp"
#include "daemon/executor/host/attributes.hpp"
#include "daemon/executor/host/durable.hpp"
#include "daemon/executor/host/files.hpp"
#include "daemon/executor/host/place.hpp"
#include "daemon/executor/host/reading.hpp"

namespace kubexm::executor {

namespace {

/// The same for the same path at every time, so that a later run finds what this one left; hidden
/// and without a suffix, so that no program that reads the directory takes it for its own.
std::string temporary_name(const Place& place) {
    return ".kubexm-" + sha256(place.leaf).substr(0, 32);
}

Result<> remove_temporary(const Place& place) {
    const std::string name = temporary_name(place);
    const auto gone = unlink_unless_directory(place.parent.get(), name);
    if (!gone) return from_errno("unlink what was left of", place.path, gone.error());
    if (*gone) return {};
    return fail(Code::conflict,
                fmt::format("{}: a directory {} is beside it: move it away", place.path, name));
}

/// The new object, under its temporary name until it moves in. One that does not is removed.
class TempFile {
public:
    explicit TempFile(const Place& place) : place_(place), name_(temporary_name(place)) {}
    TempFile(const TempFile&) = delete;
    TempFile& operator=(const TempFile&) = delete;
    ~TempFile() {
        if (made_) ::unlinkat(place_.parent.get(), name_.c_str(), 0);
    }

    /// Open for writing, empty, for nobody else to read.
    Result<Fd> make_file() {
        if (auto done = remove_temporary(place_); !done) return std::unexpected(done.error());
        crash_point("file.create.before");
        constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
        Fd file{::openat(place_.parent.get(), name_.c_str(), flags, 0600)};
        if (!file) return from_errno("create", place_.path);
        made_ = true;
        crash_point("file.create.after");
        return file;
    }

    /// Pinned.
    Result<Fd> make_link(const std::string& target) {
        if (auto done = remove_temporary(place_); !done) return std::unexpected(done.error());
        auto made = make_symlink(place_.parent.get(), name_, target, place_.path);
        if (!made) return std::unexpected(made.error());
        made_ = true;
        Fd link{::openat(place_.parent.get(), name_.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC)};
        if (!link) return from_errno("open", place_.path);
        if (auto good = check_made(link.get()); !good) return std::unexpected(good.error());
        return link;
    }

    Result<> commit() {
        auto renamed = rename_within(place_.parent.get(), name_, place_.leaf, place_.path);
        if (!renamed) return renamed;
        made_ = false;
        return sync_directory(place_.parent.get(), place_.path);
    }

private:
    /// A link is found again by its name: who may write to the directory could have put a hard link
    /// to somebody's file there, which must not get our owner and mode.
    Result<> check_made(int link) const {
        const auto seen = status_of(link, place_.path);
        if (!seen) return std::unexpected(seen.error());
        if (S_ISLNK(seen->st_mode) && seen->st_nlink == 1) return {};
        return fail(Code::conflict,
                    place_.path +
                        ": the new link was exchanged before it was in place: see who "
                        "else writes to its directory");
    }

    const Place& place_;
    std::string name_;
    bool made_ = false;
};

/// conflict: what is there is not ours to replace.
Result<> check_replaceable(const Place& place) {
    struct stat seen{};
    if (::fstatat(place.parent.get(), place.leaf.c_str(), &seen, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno == ENOENT) return {};
        return from_errno("stat", place.path);
    }
    if (S_ISLNK(seen.st_mode)) return {};
    if (S_ISDIR(seen.st_mode)) return fail(Code::conflict, place.path + " is a directory");
    if (!S_ISREG(seen.st_mode)) {
        return fail(Code::conflict, place.path + " is neither a file nor a link");
    }
    if (seen.st_nlink > 1) {
        return fail(Code::conflict,
                    fmt::format("{} has {} hard links: the others would keep the old content",
                                place.path, seen.st_nlink));
    }
    return {};
}

/// `fill(fd, object)` writes the content.
template <typename Fill>
Result<> replace_filled(const Root& root, const std::string& path, const Attributes& attributes,
                        const Fill& fill) {
    const auto place = find_place(root, path);
    if (!place) return std::unexpected(place.error());
    if (auto good = check_replaceable(*place); !good) return good;
    TempFile temp(*place);
    const auto file = temp.make_file();
    if (!file) return std::unexpected(file.error());
    if (auto done = fill(file->get(), place->path); !done) return done;
    // After the last write: writing takes capabilities and set-uid bits away.
    if (auto done = apply_attributes(file->get(), attributes, place->path); !done) return done;
    if (auto done = sync_file(file->get(), place->path); !done) return done;
    return temp.commit();
}

/// The digest of what was copied.
Result<std::string> copy(int source, int file, const Effort& effort, std::string_view object) {
    WipedBuffer buffer;
    Sha256 digest;
    for (std::uint64_t left = effort.bytes;;) {
        if (auto good = in_time(effort.deadline, object); !good) {
            return std::unexpected(good.error());
        }
        const auto bytes = read_some(source, buffer.bytes, object);
        if (!bytes) return during("reading the new content", bytes.error());
        if (bytes->empty()) return digest.finish();
        if (bytes->size() > left) {
            return fail(Code::invalid, fmt::format("the new content of {} has more than {} bytes",
                                                   object, effort.bytes));
        }
        left -= bytes->size();
        digest.update(*bytes);
        const auto written = write_content(file, *bytes, object);
        if (!written) return std::unexpected(written.error());
    }
}

}  // namespace

Result<> replace_file(const Root& root, const std::string& path, std::string_view content,
                      const Attributes& attributes) {
    return replace_filled(root, path, attributes, [content](int file, std::string_view object) {
        return write_content(file, content, object);
    });
}

Result<> replace_file_from(const Root& root, const std::string& path, int source,
                           std::string_view digest, const Effort& effort,
                           const Attributes& attributes) {
    const auto fill = [source, digest, &effort](int file, std::string_view object) -> Result<> {
        const auto copied = copy(source, file, effort, object);
        if (!copied) return std::unexpected(copied.error());
        if (*copied == digest) return {};
        return fail(Code::invalid, fmt::format("the new content of {} has SHA-256 {}, expected {}",
                                               object, *copied, digest));
    };
    return replace_filled(root, path, attributes, fill);
}

Result<> replace_symlink(const Root& root, const std::string& path, const std::string& target,
                         const Attributes& attributes) {
    const auto place = find_place(root, path);
    if (!place) return std::unexpected(place.error());
    if (target.empty() || target.find('\0') != std::string::npos) {
        return fail(Code::invalid, place->path + ": expected a target without NUL bytes");
    }
    if (auto good = check_replaceable(*place); !good) return good;
    TempFile temp(*place);
    const auto link = temp.make_link(target);
    if (!link) return std::unexpected(link.error());
    if (auto done = apply_attributes(link->get(), attributes, place->path); !done) return done;
    return temp.commit();
}

Result<> remove_leftovers(const Root& root, const std::string& path) {
    const auto place = find_place(root, path);
    if (!place && place.error().code == Code::not_found) return {};
    if (!place) return std::unexpected(place.error());
    if (auto done = remove_temporary(*place); !done) return done;
    return sync_directory(place->parent.get(), place->path);
}

}  // namespace kubexm::executor
