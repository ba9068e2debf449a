#include "daemon/base/secret.hpp"

#include <cstring>
#include <utility>

namespace kubexm {

void wipe(std::string& bytes) {
    // NOLINTNEXTLINE(clang-analyzer-cplusplus.Move): also called after a move
    bytes.resize(bytes.capacity());
    ::explicit_bzero(bytes.data(), bytes.size());
    bytes.clear();
}

// Moving a short string copies it, so always wipe the source.
Secret::Secret(std::string&& bytes) : bytes_(std::move(bytes)) { wipe(bytes); }

Secret::Secret(Secret&& other) noexcept : bytes_(std::move(other.bytes_)) { wipe(other.bytes_); }

Secret& Secret::operator=(Secret&& other) noexcept {
    if (this == &other) return *this;
    wipe(bytes_);
    bytes_ = std::move(other.bytes_);
    wipe(other.bytes_);
    return *this;
}

Secret::~Secret() { wipe(bytes_); }

std::ostream& operator<<(std::ostream& out, const Secret&) { return out << "***"; }

}  // namespace kubexm
