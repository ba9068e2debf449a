#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "daemon/base/error.hpp"
#include "daemon/pki/key.hpp"
#include "daemon/pki/request.hpp"

namespace kubexm::pki {

/// What a certificate says of itself.
struct Certificate {
    Subject subject;                // empty members where it has none, or more than one
    bool has_only_subject = false;  // nothing but one of each of these is in its subject
    std::string serial;             // hexadecimal
    std::string text;        // "CN=system:node:h1, O=system:nodes", the whole subject for a person
    std::string public_key;  // SubjectPublicKeyInfo in DER
    std::chrono::sys_seconds not_before;
    std::chrono::sys_seconds not_after;
    bool client_auth = false;  // extended key usage names it
    bool is_authority = false;
    bool has_alternative_names = false;
};

/// The first certificate of a PEM text: the leaf of a chain. Bounded; only CERTIFICATE blocks.
Result<Certificate> read_certificate(std::string_view pem);

/// Whether a certificate that was issued for us is what we asked for: our key, exactly our subject,
/// a client's, no authority, no other names, valid now. invalid: names what is different.
Result<> check_issued(const Certificate& certificate, const Key& key, const Subject& wanted,
                      std::chrono::sys_seconds now);

/// A CA bundle: at least one certificate, nothing else, each readable. Returned normalised (one PEM
/// block after the other, no text around). invalid: empty, garbage, a private key in it.
Result<std::string> read_bundle(std::string_view pem);

}  // namespace kubexm::pki
