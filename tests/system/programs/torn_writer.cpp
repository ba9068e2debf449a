// A writer that is not atomic, to prove that the crash tests would see one. Preloaded into the
// executor, it moves no new file into its place, but writes the first half of it over the old one
// and dies.

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string_view>

extern "C" int renameat(int from_directory, const char* from, int to_directory, const char* to) {
    if (!std::string_view(from).starts_with(".kubexm-")) {
        return static_cast<int>(
            ::syscall(SYS_renameat2, from_directory, from, to_directory, to, 0));
    }
    std::array<char, 4096> bytes{};
    const int source = ::openat(from_directory, from, O_RDONLY | O_CLOEXEC);
    const int target = ::openat(to_directory, to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const ssize_t size = ::read(source, bytes.data(), bytes.size());
    if (size > 0 && ::write(target, bytes.data(), static_cast<std::size_t>(size) / 2) > 0) {
        ::kill(::getpid(), SIGKILL);
    }
    return -1;
}
