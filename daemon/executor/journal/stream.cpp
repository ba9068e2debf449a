#include "daemon/executor/journal/stream.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include "daemon/base/crash_point.hpp"
#include "daemon/base/digest.hpp"
#include "daemon/base/io.hpp"
#include "daemon/base/refusal.hpp"
#include "daemon/base/try.hpp"

namespace kubexm::executor::journal {

Result<> write_content(int fd, std::string_view bytes, std::string_view name) {
    crash_point("vault.write.before");
    TRY(write_all(fd, bytes, name));
    crash_point("vault.write.after");
    return {};
}

Result<std::string> copy_rest(int source, int target, std::uint64_t limit, std::string_view name) {
    WipedBuffer buffer;
    Sha256 digest;
    for (std::uint64_t total = 0;;) {
        const auto bytes = TRY(buffer.read(source, fmt::format("content for {}", name)));
        if (bytes.empty()) return digest.finish();
        total += bytes.size();
        if (total > limit) {
            TRY(refusal("content-size", Code::invalid,
                        fmt::format("{}: more than {} bytes", name, limit)));
        }
        digest.update(bytes);
        TRY(write_content(target, bytes, name));
    }
}

Result<std::string> digest_of_rest(int fd, std::string_view name) {
    WipedBuffer buffer;
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
    return refusal("regular-content", Code::invalid,
                   fmt::format("{}: expected a regular file", name));
}

}  // namespace kubexm::executor::journal
