#include "daemon/executor/journal/stream.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "daemon/base/crash_point.hpp"
#include "daemon/base/digest.hpp"
#include "daemon/base/io.hpp"
#include "daemon/base/try.hpp"

namespace kubexm::executor::journal {

namespace {

/// Wiped when destroyed: the content may be secret.
class Buffer {
public:
    Buffer() = default;
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer() { ::explicit_bzero(bytes_.data(), bytes_.size()); }

    /// The next bytes of a descriptor; empty at its end.
    Result<std::string_view> read(int fd, std::string_view name) {
        for (;;) {
            const ssize_t size = ::read(fd, bytes_.data(), bytes_.size());
            if (size >= 0) return std::string_view(bytes_.data(), static_cast<std::size_t>(size));
            if (errno != EINTR) return from_errno("read", name);
        }
    }

private:
    std::array<char, std::size_t{16} * 1024> bytes_{};
};

}  // namespace

Result<> write_content(int fd, std::string_view bytes, std::string_view name) {
    crash_point("vault.write.before");
    TRY(write_all(fd, bytes, name));
    crash_point("vault.write.after");
    return {};
}

Result<std::string> copy_rest(int source, int target, std::uint64_t limit, std::string_view name) {
    Buffer buffer;
    Sha256 digest;
    for (std::uint64_t total = 0;;) {
        const auto bytes = TRY(buffer.read(source, fmt::format("content for {}", name)));
        if (bytes.empty()) return digest.finish();
        total += bytes.size();
        if (total > limit) {
            return fail(Code::invalid, fmt::format("{}: more than {} bytes", name, limit));
        }
        digest.update(bytes);
        TRY(write_content(target, bytes, name));
    }
}

Result<std::string> digest_of_rest(int fd, std::string_view name) {
    Buffer buffer;
    Sha256 digest;
    for (;;) {
        const auto bytes = TRY(buffer.read(fd, name));
        if (bytes.empty()) return digest.finish();
        digest.update(bytes);
    }
}

Result<> check_regular(int fd, std::string_view name) {
    struct stat status{};
    if (::fstat(fd, &status) != 0) return from_errno("stat", name);
    if (S_ISREG(status.st_mode)) return {};
    return fail(Code::invalid, fmt::format("{}: expected a regular file", name));
}

}  // namespace kubexm::executor::journal
