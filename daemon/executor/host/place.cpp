#include "daemon/executor/host/place.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/syscall.h>

#include <utility>

#include "daemon/base/refusal.hpp"
#include "daemon/base/text.hpp"
#include "daemon/base/try.hpp"

namespace kubexm::executor {

namespace {

constexpr std::size_t kMaxShown = 1000;

Result<> check_component(std::string_view component, std::string_view path) {
    if (component.empty() || component == "." || component == "..") {
        return refusal("path-components", Code::invalid,
                       fmt::format("path {}: expected a name between slashes, found \"{}\"",
                                   shown(path), component));
    }
    return {};
}

Result<> check_path(std::string_view path) {
    if (!path.starts_with('/')) {
        return fail(Code::invalid, fmt::format("path {}: expected an absolute path", shown(path)));
    }
    if (path.find('\0') != std::string_view::npos) {
        return fail(Code::invalid, fmt::format("path {}: expected no NUL byte", shown(path)));
    }
    for (std::size_t begin = 1; begin <= path.size();) {
        const auto end = std::min(path.find('/', begin), path.size());
        TRY(check_component(path.substr(begin, end - begin), path));
        begin = end + 1;
    }
    return {};
}

/// Resolves in one system call. Empty: the kernel refused or lacks openat2; walk() is as safe and
/// its error names the component.
Fd open_beneath(int root, const std::string& relative) {
    open_how how{};
    how.flags = kOpenDirectory;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
    if (is_off("followed-links")) {
        how.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
        how.resolve = 0;
    }
    return Fd{static_cast<int>(::syscall(SYS_openat2, root, relative.c_str(), &how, sizeof(how)))};
}

/// Resolves one component; `so_far` is its path for messages.
Result<Fd> step_into(int directory, const std::string& component, std::string_view so_far) {
    Fd next{::openat(directory, component.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC)};
    if (!next) return from_errno("open", shown(so_far));
    const auto status = TRY(status_of(next.get(), shown(so_far)));
    if (S_ISLNK(status.st_mode)) return symlink_denied(shown(so_far));
    if (!S_ISDIR(status.st_mode)) return from_errno("open", shown(so_far), ENOTDIR);
    return next;
}

/// Opens the directory `path` (absolute; empty for the root itself) one component after the other.
Result<Fd> walk(int root, std::string_view path) {
    Fd here;
    for (std::size_t begin = 1; begin < path.size();) {
        const auto end = std::min(path.find('/', begin), path.size());
        const int from = here ? here.get() : root;
        const std::string component(path.substr(begin, end - begin));
        here = TRY(step_into(from, component, path.substr(0, end)));
        begin = end + 1;
    }
    Fd opened{::openat(here ? here.get() : root, ".", kOpenDirectory)};
    if (!opened) return from_errno("open", path.empty() ? "/" : shown(path));
    return opened;
}

}  // namespace

Result<Root> Root::open(const std::string& directory) {
    Fd fd{::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
    if (!fd) return from_errno("open", shown(directory));
    return Root(std::move(fd));
}

Result<Place> find_place(const Root& root, const std::string& path) {
    TRY(check_path(path));
    const auto slash = path.rfind('/');
    const std::string parent = path.substr(0, slash);
    if (!parent.empty()) {
        if (Fd fd = open_beneath(root.fd(), parent.substr(1))) {
            return Place{std::move(fd), path.substr(slash + 1), path, shown(path)};
        }
    }
    Fd walked = TRY(walk(root.fd(), parent));
    return Place{std::move(walked), path.substr(slash + 1), path, shown(path)};
}

Result<Fd> pin(const Place& place) {
    Fd fd{::openat(place.parent.get(), place.leaf.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC)};
    if (!fd) return from_errno("open", place.path);
    return fd;
}

Result<struct stat> status_of(int fd, std::string_view object) {
    struct stat status{};
    if (::fstat(fd, &status) != 0) return from_errno("stat", object);
    return status;
}

Result<Fd> reopen(int pinned, int flags, std::string_view object) {
    // O_NONBLOCK: does not wait for the holder of a lease.
    Fd fd{::open(path_to(pinned).c_str(), flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)};
    if (!fd) return from_errno("open", object);
    return fd;
}

std::string path_to(int fd) { return fmt::format("/proc/self/fd/{}", fd); }

std::unexpected<Error> symlink_denied(std::string_view object) {
    return fail(Code::denied, fmt::format("{} is a symbolic link, which is not followed", object));
}

std::string shown(std::string_view path) {
    if (path.size() <= kMaxShown) return printable(path);
    constexpr auto half = kMaxShown / 2;
    return printable(path.substr(0, half)) + "..." + printable(path.substr(path.size() - half));
}

}  // namespace kubexm::executor
