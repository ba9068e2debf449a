#include <algorithm>
#include <array>

#include "daemon/base/grammar.hpp"
#include "daemon/base/scan.hpp"

namespace kubexm {

namespace {

constexpr std::size_t kMaxDnsName = 253;
constexpr std::size_t kMaxLabel = 63;  // of DNS and of Kubernetes alike

bool is_label_name(std::string_view text) {
    return text.size() <= kMaxLabel && made_of(text, is_name_character) &&
           is_alphanumeric(text.front()) && is_alphanumeric(text.back());
}

/// As in unit_name_is_valid() of systemd: the part before ".service".
bool is_unit_stem(std::string_view text) {
    const auto is_part = [](char c) { return is_name_character(c) || one_of(c, ":\\@"); };
    return made_of(text, is_part) && text.front() != '@' && text.find('@') != text.size() - 1;
}

}  // namespace

bool is_dns_label(std::string_view text) {
    const auto is_part = [](char c) { return is_lower_or_digit(c) || c == '-'; };
    return text.size() <= kMaxLabel && made_of(text, is_part) && text.front() != '-' &&
           text.back() != '-';
}

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

bool is_user_name(std::string_view text) {
    constexpr std::size_t kMaxUser = 32;
    const auto is_part = [](char c) { return is_alphanumeric(c) || one_of(c, "_-"); };
    return text.size() <= kMaxUser && made_of(text, is_part) &&
           (is_lower(text.front()) || text.front() == '_');
}

bool is_unit_name(std::string_view text) {
    constexpr std::array<std::string_view, 11> kTypes = {"service", "socket",    "target", "device",
                                                         "mount",   "automount", "swap",   "timer",
                                                         "path",    "slice",     "scope"};
    constexpr std::size_t kMaxUnit = 255;  // UNIT_NAME_MAX less its NUL
    const std::size_t dot = text.rfind('.');
    return text.size() <= kMaxUnit && dot != std::string_view::npos &&
           std::ranges::find(kTypes, text.substr(dot + 1)) != kTypes.end() &&
           is_unit_stem(text.substr(0, dot));
}

bool is_component_name(std::string_view text) {
    constexpr std::size_t kMaxComponent = 64;
    return text.size() <= kMaxComponent && made_of(text, is_name_character) &&
           !one_of(text.front(), ".-");
}

bool is_certificate_name(std::string_view text) {
    return is_component_name(text) && text.ends_with(".crt");
}

}  // namespace kubexm
