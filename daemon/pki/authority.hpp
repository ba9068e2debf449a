#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/error.hpp"

namespace kubexm::pki {

/// A certificate authority of a bundle.
struct Authority {
    std::string name;  // "CN=kubernetes"
    std::string pin;   // SHA-256 of its public key, as kubeadm prints it, without "sha256:"
    std::string pem;

    bool operator==(const Authority&) const = default;
};

/// The certificates of a CA bundle. invalid: one is no CA or not valid now, more than
/// kMostAuthorities, or not readable.
inline constexpr std::size_t kMostAuthorities = 32;
Result<std::vector<Authority>> read_authorities(std::string_view pem, std::chrono::sys_seconds now);

/// Those of a bundle that are CAs and valid now; one that has expired does not take the others with
/// it.
std::vector<Authority> valid_authorities(std::string_view pem, std::chrono::sys_seconds now);

/// Whether `issuer` has signed the certificate of `subject`.
bool has_signed(const Authority& issuer, const Authority& subject);

}  // namespace kubexm::pki
