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
