#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/base/names.hpp"

namespace kubexm::model {

/// What happens to a certificate next.
enum class CertificateAction {
    renew,    // another one is requested
    approve,  // its request waits for an approval
    retry,    // the renewal failed and is tried again
    publish,  // kubelet does not have the renewed one yet
};

struct IssuerView {
    std::string subject;
    std::string not_after;

    bool operator==(const IssuerView&) const = default;
};

/// A certificate that kubexmd renews. Times are RFC 3339 in UTC.
struct CertificateView {
    std::string name;     // "management" or "node"
    std::string subject;  // "CN=system:node:h1, O=system:nodes"
    std::string serial;
    std::string not_before;
    std::string not_after;
    std::vector<IssuerView> issuers;  // up to the root, as far as they are known
    CertificateAction next = CertificateAction::renew;
    std::string next_at;      // empty: it depends on others
    std::string next_reason;  // why it is not renewed yet, and how to approve its request

    bool operator==(const CertificateView&) const = default;
};

}  // namespace kubexm::model

namespace kubexm {

template <>
struct Names<model::CertificateAction> {
    static constexpr std::array<std::pair<model::CertificateAction, std::string_view>, 4> kAll{{
        {model::CertificateAction::renew, "renew"},
        {model::CertificateAction::approve, "approve"},
        {model::CertificateAction::retry, "retry"},
        {model::CertificateAction::publish, "publish"},
    }};
};

}  // namespace kubexm
