#include "daemon/executor/host/path_watch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/inotify.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "daemon/base/try.hpp"
#include "daemon/executor/host/place.hpp"

namespace kubexm::executor {

namespace {

constexpr std::uint32_t kEvents = IN_ATTRIB | IN_MODIFY | IN_CLOSE_WRITE | IN_CREATE | IN_DELETE |
                                  IN_MOVED_FROM | IN_MOVED_TO | IN_ONLYDIR | IN_DONT_FOLLOW;

/// "/etc/hosts" is "etc" in "/" and "hosts" in "/etc".
void add_with_parents(const std::string& path, std::map<std::string, std::set<std::string>>& all) {
    for (std::size_t slash = 0; slash != std::string::npos;) {
        const std::size_t next = path.find('/', slash + 1);
        const std::size_t length = next == std::string::npos ? next : next - slash - 1;
        all[path.substr(0, slash)].insert(path.substr(slash + 1, length));
        slash = next;
    }
}

/// One that all programs of the user share.
std::unexpected<Error> limit_reached(const std::string& what, const char* setting) {
    return fail(Code::exhausted,
                fmt::format("{}: the kernel's limit {} is reached; raise it", what, setting));
}

}  // namespace

Result<PathWatch> PathWatch::create(const Root& root) {
    Fd inotify{::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)};
    if (!inotify && errno == EMFILE) {
        return limit_reached("watch of paths", "fs.inotify.max_user_instances");
    }
    if (!inotify) return from_errno("inotify_init1", "watch of paths");
    Fd own{::fcntl(root.fd(), F_DUPFD_CLOEXEC, 0)};
    if (!own) return from_errno("dup", "root directory");
    return PathWatch(std::move(own), std::move(inotify));
}

/// -1: there is no such directory; its parent tells when it appears.
Result<int> PathWatch::watch_directory(const std::string& path) {
    const std::string whole = path_to(root_.get()) + (path.empty() ? "/." : path);
    const int watched = ::inotify_add_watch(inotify_.get(), whole.c_str(), kEvents);
    if (watched >= 0) return watched;
    if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP) return -1;
    if (errno == ENOSPC) {
        return limit_reached("watch of " + path + "/", "fs.inotify.max_user_watches");
    }
    return from_errno("watch", path);
}

Result<bool> PathWatch::watch(const std::vector<std::string>& paths) {
    std::map<std::string, std::set<std::string>> directories;
    for (const std::string& path : paths) add_with_parents(path, directories);
    std::map<int, std::set<std::string>> names;
    std::optional<Error> failed;
    bool is_new = false;
    for (auto& [directory, entries] : directories) {
        const auto watched = watch_directory(directory);
        if (!watched && !failed) failed = watched.error();
        if (!watched || *watched < 0) continue;
        is_new = is_new || !names_.contains(*watched);
        names[*watched].merge(entries);
    }
    for (const auto& [watched, entries] : names_) {
        if (!names.contains(watched)) ::inotify_rm_watch(inotify_.get(), watched);
    }
    names_ = std::move(names);
    if (failed) return std::unexpected(*std::move(failed));
    return is_new;
}

bool PathWatch::concerns(int watched, const char* name) const {
    const auto found = names_.find(watched);
    return found != names_.end() && found->second.contains(name);
}

Result<bool> PathWatch::changed() {
    bool found = false;
    for (;;) {
        alignas(inotify_event) std::array<char, 16384> buffer{};
        const ssize_t size = ::read(inotify_.get(), buffer.data(), buffer.size());
        if (size < 0 && errno == EINTR) continue;
        if (size < 0 && errno == EAGAIN) return found;
        if (size <= 0) return from_errno("read", "watch of paths");
        for (std::size_t at = 0; at < static_cast<std::size_t>(size);) {
            inotify_event event{};
            std::memcpy(&event, buffer.data() + at, sizeof(event));
            const char* name = event.len == 0 ? "" : buffer.data() + at + sizeof(event);
            found = found || (event.mask & IN_Q_OVERFLOW) != 0 || concerns(event.wd, name);
            at += sizeof(event) + event.len;
        }
    }
}

}  // namespace kubexm::executor
