#include "daemon/base/grammar.hpp"
#include "daemon/base/scan.hpp"

namespace kubexm {

namespace {

constexpr std::size_t kMaxDnsName = 253;
constexpr std::size_t kMaxLabel = 63;  // of DNS and of Kubernetes alike

bool is_dns_label(std::string_view text) {
    const auto is_part = [](char c) { return is_lower_or_digit(c) || c == '-'; };
    return text.size() <= kMaxLabel && made_of(text, is_part) && text.front() != '-' &&
           text.back() != '-';
}

bool is_label_name(std::string_view text) {
    return text.size() <= kMaxLabel && made_of(text, is_name_character) &&
           is_alphanumeric(text.front()) && is_alphanumeric(text.back());
}

}  // namespace

bool is_dns_name(std::string_view text) {
    return text.size() <= kMaxDnsName && every_part(text, '.', is_dns_label);
}

bool is_node_name(std::string_view text) { return text.size() <= kMaxLabel && is_dns_name(text); }

bool is_provider_id(std::string_view text) {
    constexpr std::size_t kMaxProviderId = 512;
    constexpr std::string_view kAfterScheme = "://";
    const auto is_part = [](char c) { return is_name_character(c) || c == '/'; };
    const std::size_t colon = text.find(kAfterScheme);
    return text.size() <= kMaxProviderId && colon != std::string_view::npos &&
           is_dns_label(text.substr(0, colon)) &&
           made_of(text.substr(colon + kAfterScheme.size()), is_part);
}

bool is_label_key(std::string_view text) {
    const std::size_t slash = text.find('/');
    if (slash == std::string_view::npos) return is_label_name(text);
    return is_dns_name(text.substr(0, slash)) && is_label_name(text.substr(slash + 1));
}

bool is_label_value(std::string_view text) { return text.empty() || is_label_name(text); }

}  // namespace kubexm
