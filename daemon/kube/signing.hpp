#pragma once

#include <chrono>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/error.hpp"

namespace kubexm::kube {

// CertificateSigningRequests from and to JSON. Pure.

inline constexpr const char* kSigningPath =
    "/apis/certificates.k8s.io/v1/certificatesigningrequests";

struct SigningRequest {
    std::string name;
    std::string signer;   // "kubernetes.io/kube-apiserver-client"
    std::string request;  // PKCS#10 in PEM
    std::vector<std::string> usages;
    std::optional<std::chrono::seconds> lifetime;  // requested; the signer may shorten it
};

nlohmann::json to_json(const SigningRequest& request);

/// The request that an object has, from kubexmd or anyone else; a field is empty if there is none.
SigningRequest signing_request_from_json(const nlohmann::json& object);

/// The certificate in PEM, empty while it is pending. denied: the request was denied or the signer
/// failed; with their reason and message.
Result<std::string> issued_certificate(const nlohmann::json& object);

}  // namespace kubexm::kube
