#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/pki/key.hpp"

namespace kubexm::pki {

struct Subject {
    std::string common_name;   // "system:node:h1"
    std::string organization;  // "system:nodes"

    bool operator==(const Subject&) const = default;
};

/// A PKCS#10 request in PEM, signed with the key, without subject alternative names.
Result<std::string> make_request(const Key& key, const Subject& subject);

/// The name under which a kubelet asks for its first certificate: the same key, subject and usages
/// always give the same name, so that asking again finds the first request.
std::string node_request_name(const Key& key, const Subject& subject,
                              const std::vector<std::string>& usages);

/// "byoh-csr-h1-<16 hexadecimal digits of the key>": what the provider's approver looks for, and
/// nobody else's by accident.
std::string host_request_name(const Key& key, std::string_view host);

}  // namespace kubexm::pki
