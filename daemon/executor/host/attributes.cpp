#include "daemon/executor/host/attributes.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <expected>
#include <optional>
#include <vector>

#include "daemon/base/crash_point.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/host/place.hpp"

namespace kubexm::executor {

namespace {

using Xattrs = std::map<std::string, std::string>;

constexpr std::uint32_t kModeBits = 07777;

/// Removed unless desired. The labels of security modules are not ours: their policy sets them on
/// every new object, and a file without one may be unreadable.
bool is_managed(std::string_view name) {
    return name.starts_with("user.") || name.starts_with("trusted.") ||
           name.starts_with("system.posix_acl_") || name == "security.capability";
}

/// Calls a getter of extended attributes with a buffer that is large enough. Error: the errno.
template <typename Call>
std::expected<std::string, int> read_sized(const Call& call) {
    for (;;) {
        const ssize_t size = call(nullptr, 0);
        if (size < 0) return std::unexpected(errno);
        std::string bytes(static_cast<std::size_t>(size), '\0');
        const ssize_t got = size == 0 ? 0 : call(bytes.data(), bytes.size());
        if (got < 0 && errno == ERANGE) continue;  // grew between the two calls
        if (got < 0) return std::unexpected(errno);
        bytes.resize(static_cast<std::size_t>(got));
        return bytes;
    }
}

Result<std::vector<std::string>> list_xattrs(int fd, std::string_view object) {
    auto listed = read_sized([path = path_to(fd)](char* to, std::size_t size) {
        return ::listxattr(path.c_str(), to, size);
    });
    if (!listed && listed.error() == EOPNOTSUPP) return std::vector<std::string>{};
    if (!listed) return from_errno("list the extended attributes of", object, listed.error());
    std::vector<std::string> names;
    for (std::size_t begin = 0; begin < listed->size(); begin += names.back().size() + 1) {
        names.emplace_back(listed->c_str() + begin);
    }
    return names;
}

/// Sets attributes one by one and collects the failures.
class Application {
public:
    Application(int fd, const Attributes& desired, std::string_view object)
        : fd_(fd), path_(path_to(fd)), desired_(desired), object_(object) {}

    Result<> run() {
        // A change of owner clears capabilities and set-uid bits, and an access control list
        // changes the mode: in this order nothing is lost.
        owner();
        xattrs();
        mode();
        if (!problem_) return {};
        return std::unexpected(*problem_);
    }

private:
    void owner() {
        const struct stat now = status();
        if (now.st_uid == desired_.uid && now.st_gid == desired_.gid) return;
        crash_point("file.chown.before");
        const int flags = AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW;
        if (::fchownat(fd_, "", desired_.uid, desired_.gid, flags) != 0) {
            return refused(fmt::format("owner {}:{}", desired_.uid, desired_.gid), errno);
        }
        crash_point("file.chown.after");
    }

    void mode() {
        const struct stat now = status();
        if (S_ISLNK(now.st_mode) || (now.st_mode & kModeBits) == desired_.mode) return;
        crash_point("file.chmod.before");
        if (::fchmodat(AT_FDCWD, path_.c_str(), desired_.mode, 0) != 0) {
            return refused(fmt::format("mode {:04o}", desired_.mode), errno);
        }
        crash_point("file.chmod.after");
        // Without CAP_FSETID the kernel drops a set-gid bit and reports success.
        const std::uint32_t actual = status().st_mode & kModeBits;
        if (actual != desired_.mode) {
            refused(fmt::format("mode {:04o}: the kernel set {:04o}", desired_.mode, actual),
                    EPERM);
        }
    }

    void xattrs() {
        auto now = read_xattrs(fd_, object_);
        if (!now) return refused(now.error());
        for (const auto& [name, value] : *now) {
            if (is_managed(name) && !desired_.xattrs.contains(name)) remove(name);
        }
        for (const auto& [name, value] : desired_.xattrs) {
            const auto current = now->find(name);
            if (current == now->end() || current->second != value) set(name, value);
        }
    }

    void remove(const std::string& name) {
        crash_point("file.xattr.before");
        if (::removexattr(path_.c_str(), name.c_str()) != 0 && errno != ENODATA) {
            return refused("removal of extended attribute " + shown(name), errno);
        }
        crash_point("file.xattr.after");
    }

    void set(const std::string& name, const std::string& value) {
        crash_point("file.xattr.before");
        if (::setxattr(path_.c_str(), name.c_str(), value.data(), value.size(), 0) != 0) {
            return refused("extended attribute " + shown(name), errno);
        }
        crash_point("file.xattr.after");
    }

    struct stat status() {
        struct stat now{};
        if (::fstat(fd_, &now) != 0) refused("status", errno);
        return now;
    }

    void refused(const std::string& attribute, int number) {
        refused(from_errno("set", fmt::format("{} {}", object_, attribute), number).error());
    }
    /// The code is that of the first failure; the message lists all.
    void refused(const Error& error) {
        if (!problem_) {
            problem_ = error;
        } else {
            problem_->what += "; " + error.what;
        }
    }

    int fd_;
    std::string path_;
    const Attributes& desired_;
    std::string_view object_;
    std::optional<Error> problem_;
};

}  // namespace

Result<Xattrs> read_xattrs(int fd, std::string_view object) {
    const auto names = TRY(list_xattrs(fd, object));
    Xattrs xattrs;
    for (const std::string& name : names) {
        auto value = read_sized([&name, path = path_to(fd)](char* to, std::size_t size) {
            return ::getxattr(path.c_str(), name.c_str(), to, size);
        });
        if (!value && value.error() == ENODATA) continue;  // removed meanwhile
        if (!value) {
            return from_errno(fmt::format("read extended attribute {} of", shown(name)), object,
                              value.error());
        }
        xattrs.emplace(name, *std::move(value));
    }
    return xattrs;
}

Result<> apply_attributes(int fd, const Attributes& desired, std::string_view object) {
    return Application(fd, desired, object).run();
}

}  // namespace kubexm::executor
