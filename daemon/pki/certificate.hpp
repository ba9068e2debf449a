#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/pki/key.hpp"
#include "daemon/pki/request.hpp"

namespace kubexm::pki {

/// The content of a certificate.
struct Certificate {
    Subject subject;                // a member is empty if there is none or more than one
    bool has_only_subject = false;  // one of each, and nothing else
    std::string serial;             // hexadecimal
    std::string text;               // the whole subject: "CN=system:node:h1, O=system:nodes"
    std::string public_key;         // SubjectPublicKeyInfo in DER
    std::chrono::sys_seconds not_before;
    std::chrono::sys_seconds not_after;
    bool client_auth = false;  // extended key usage
    bool is_authority = false;
    bool has_alternative_names = false;
};

/// The first certificate of a PEM text: the leaf of a chain. Bounded; only CERTIFICATE blocks.
Result<Certificate> read_certificate(std::string_view pem);

/// Checks that an issued certificate matches the request: our key, exactly our subject, for
/// clients, no authority, no alternative names, valid now. invalid: names the difference.
Result<> check_issued(const Certificate& certificate, const Key& key, const Subject& wanted,
                      std::chrono::sys_seconds now);

/// A CA bundle of at least one certificate, normalised: PEM blocks without text around them.
/// invalid: empty, unreadable, or with another kind of block.
Result<std::string> read_bundle(std::string_view pem);

/// SHA-256 of each certificate of a CA bundle, in order of their values.
Result<std::vector<std::string>> fingerprints_of(std::string_view pem);

}  // namespace kubexm::pki
