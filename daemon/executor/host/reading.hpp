#pragma once

#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>

#include "daemon/base/error.hpp"
#include "daemon/base/secret.hpp"

// Private to the module.

namespace kubexm::executor {

/// For content that may be a secret.
struct WipedBuffer {
    std::string bytes = std::string(std::size_t{256} * 1024, '\0');

    WipedBuffer() = default;
    WipedBuffer(const WipedBuffer&) = delete;
    WipedBuffer& operator=(const WipedBuffer&) = delete;
    ~WipedBuffer() { wipe(bytes); }
};

/// One read into `buffer`; empty at the end of the file.
inline Result<std::string_view> read_some(int fd, std::string& buffer, std::string_view object) {
    for (;;) {
        const ssize_t got = ::read(fd, buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return from_errno("read", object);
        return std::string_view(buffer.data(), static_cast<std::size_t>(got));
    }
}

}  // namespace kubexm::executor
