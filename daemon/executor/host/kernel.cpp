#include "daemon/executor/host/kernel.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "daemon/base/crash_point.hpp"
#include "daemon/base/fd.hpp"

namespace kubexm::executor {

namespace {

constexpr std::size_t kMaxValue = 4096;

std::string sysctl_path(const std::string& key) {
    std::string path = "/proc/sys/";
    for (const char c : key) path += c == '.' ? '/' : c == '/' ? '.' : c;
    return path;
}

}  // namespace

Result<std::string> read_sysctl(const Root& root, const std::string& key) {
    auto value = read_file(root, sysctl_path(key), kMaxValue);
    if (!value) return during("reading sysctl " + key, value.error());
    while (value->ends_with('\n')) value->pop_back();
    std::replace(value->begin(), value->end(), '\t', ' ');
    return value;
}

Result<> write_sysctl(const Root& root, const std::string& key, const std::string& value) {
    const std::string path = sysctl_path(key);
    auto state = inspect(root, path);
    if (!state) return during("sysctl " + key, state.error());
    if (state->kind != PathKind::file) {
        return fail(Code::not_found,
                    "sysctl " + key + ": expected a key of this kernel; load its module first");
    }
    // inspect() found no symbolic link in the path, and /proc/sys allows none to be made.
    const Fd file{
        ::openat(root.fd(), path.c_str() + 1, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOFOLLOW)};
    if (!file) return from_errno("open", path);
    crash_point("sysctl.write.before");
    const std::string line = value + "\n";
    if (::write(file.get(), line.data(), line.size()) < 0) return from_errno("write", path);
    crash_point("sysctl.write.after");
    return {};
}

Result<bool> module_loaded(const Root& root, const std::string& name) {
    std::string directory = "/sys/module/" + name;
    std::replace(directory.begin(), directory.end(), '-', '_');
    auto state = inspect(root, directory);
    if (!state) return during("reading the state of kernel module " + name, state.error());
    return state->kind == PathKind::directory;
}

}  // namespace kubexm::executor
