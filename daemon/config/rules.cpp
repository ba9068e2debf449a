#include "daemon/config/rules.hpp"

#include <algorithm>

#include "daemon/base/duration.hpp"
#include "daemon/model/allow.hpp"
#include "daemon/model/cluster_rule.hpp"
#include "daemon/model/denied_sysctls.hpp"
#include "daemon/model/preflight.hpp"

namespace kubexm::config {

namespace {

bool is_in(const std::vector<std::string>& list, std::string_view text) {
    return std::ranges::find(list, text) != list.end();
}

}  // namespace

bool is_optional_path(std::string_view text) { return text.empty() || is_absolute_path(text); }

bool is_optional_host_name(std::string_view text) { return text.empty() || is_node_name(text); }

bool is_optional_loopback_endpoint(std::string_view text) {
    if (text.empty()) return true;
    const auto endpoint = endpoint_from(text);
    return endpoint && endpoint->port && (endpoint->host == "127.0.0.1" || endpoint->host == "::1");
}

bool is_allowed_sysctl_pattern(std::string_view text) {
    return is_sysctl_pattern(text) && !model::is_denied_sysctl(text);
}

bool is_pods_timeout(std::string_view text) {
    // With 30 s for the pods that kubelet then deletes, and two minutes for the undo, the release
    // ends before the management cluster's five minutes.
    const auto duration = duration_in(text);
    return duration && *duration <= std::chrono::minutes(2);
}

bool is_step_type(std::string_view text) { return is_in(model::AllowList{}.steps, text); }

bool is_document_type(std::string_view text) { return is_in(model::AllowList{}.documents, text); }

bool is_allowed_server(std::string_view text) { return model::cluster_rule(text).has_value(); }

bool is_check_id(std::string_view text) { return from_name<model::CheckId>(text).has_value(); }

bool is_allowed_registry(std::string_view text) {
    constexpr std::string_view kPlain = "http://";
    if (text == "*") return true;
    if (text.starts_with(kPlain)) text.remove_prefix(kPlain.size());
    return is_endpoint(text);
}

}  // namespace kubexm::config
