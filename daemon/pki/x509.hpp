#pragma once

#include "daemon/pki/certificate.hpp"
#include "daemon/pki/openssl.hpp"

// Certificates as OpenSSL has them. Private to the module.

namespace kubexm::pki {

Result<Certificate> describe(X509* certificate);

/// Whether the key of `above` has signed `below`, and their names fit.
bool has_issued(X509* above, X509* below);

}  // namespace kubexm::pki
