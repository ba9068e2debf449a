#pragma once

#include <string_view>
#include <vector>

#include "daemon/pki/certificate.hpp"

namespace kubexm::pki {

/// Who issued the first certificate of `pem`, and who issued that one, up to the root, as far as
/// they are among the further certificates of `pem` and those of `bundle`.
std::vector<Certificate> issuers_of(std::string_view pem, std::string_view bundle);

}  // namespace kubexm::pki
