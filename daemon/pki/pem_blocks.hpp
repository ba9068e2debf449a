#pragma once

#include <string_view>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/pki/openssl.hpp"

namespace kubexm::pki {

/// The certificates of a PEM text, at least one. Text around the blocks is skipped. invalid: a
/// block of another kind, damaged, not closed, or with headers.
Result<std::vector<X509Certificate>> read_certificates(std::string_view pem);

}  // namespace kubexm::pki
