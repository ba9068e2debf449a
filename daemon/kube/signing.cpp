#include "daemon/kube/signing.hpp"

#include <fmt/format.h>

#include "daemon/base/base64.hpp"
#include "daemon/base/text.hpp"
#include "daemon/kube/fields.hpp"

namespace kubexm::kube {

using nlohmann::json;

json to_json(const SigningRequest& request) {
    json spec{{"request", base64(request.request)},
              {"signerName", request.signer},
              {"usages", request.usages}};
    if (request.lifetime) spec["expirationSeconds"] = request.lifetime->count();
    return {{"apiVersion", "certificates.k8s.io/v1"},
            {"kind", "CertificateSigningRequest"},
            {"metadata", {{"name", request.name}}},
            {"spec", std::move(spec)}};
}

SigningRequest signing_request_from_json(const json& object) {
    SigningRequest request{.name = text_at(object, {"metadata", "name"}),
                           .signer = text_at(object, {"spec", "signerName"}),
                           .request = "",
                           .usages = {},
                           .lifetime = {}};
    request.request = from_base64(text_at(object, {"spec", "request"})).value_or("");
    const json& usages = at(object, {"spec", "usages"});
    for (const json& usage : usages.is_array() ? usages : json::array()) {
        request.usages.push_back(usage.is_string() ? usage.get<std::string>() : "");
    }
    return request;
}

Result<std::string> issued_certificate(const json& object) {
    const json& conditions = at(object, {"status", "conditions"});
    for (const json& condition : conditions.is_array() ? conditions : json::array()) {
        const std::string type = text_at(condition, {"type"});
        if (type != "Denied" && type != "Failed") continue;
        return fail(Code::denied, fmt::format("certificate request {} is {}: {} {}",
                                              printable(text_at(object, {"metadata", "name"})),
                                              type, printable(text_at(condition, {"reason"})),
                                              printable(text_at(condition, {"message"}))));
    }
    const std::string encoded = text_at(object, {"status", "certificate"});
    if (encoded.empty()) return std::string();
    auto pem = from_base64(encoded);
    if (!pem) return during("status.certificate", pem.error());
    return pem;
}

}  // namespace kubexm::kube
