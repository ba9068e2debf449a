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

/// The content of a certificate request.
struct RequestContent {
    Subject subject;                // a member is empty if there is none or more than one
    bool has_only_subject = false;  // one of each, and nothing else
    std::string public_key;         // SubjectPublicKeyInfo in DER
};

/// invalid: no PKCS#10 request in PEM, or not signed with its own key.
Result<RequestContent> read_request(std::string_view pem);

/// The name of a kubelet's first request, as kubelet computes it: the same key, subject and usages
/// give the same name, so a retry finds the earlier request.
std::string node_request_name(const Key& key, const Subject& subject,
                              const std::vector<std::string>& usages);

/// "byoh-csr-h1-<16 hexadecimal digits of the key>": the provider's approver expects the prefix,
/// the digits make it unique.
std::string host_request_name(const Key& key, std::string_view host);

}  // namespace kubexm::pki
