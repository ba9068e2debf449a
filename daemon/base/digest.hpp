#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace kubexm {

/// SHA-256 in lower-case hexadecimal, 64 characters.
std::string sha256(std::string_view bytes);

/// The same, piece by piece.
class Sha256 {
public:
    Sha256();
    Sha256(Sha256&&) noexcept;
    Sha256& operator=(Sha256&&) noexcept;
    ~Sha256();

    void update(std::string_view bytes);
    /// The digest of all bytes since the last finish().
    std::string finish();

private:
    struct Context;
    std::unique_ptr<Context> context_;
};

}  // namespace kubexm
