#include "daemon/config/rules.hpp"

#include <net/if.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>

#include "daemon/model/denied_sysctls.hpp"

namespace kubexm::config {

namespace {

constexpr std::string_view kLower = "abcdefghijklmnopqrstuvwxyz";
constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kUpper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

bool is_one_of(char c, std::string_view more) {
    return kLower.contains(c) || kDigits.contains(c) || kUpper.contains(c) || more.contains(c);
}

/// 1 to `longest` letters, digits and characters of `more`.
bool is_word(std::string_view text, std::string_view more, std::size_t longest) {
    return !text.empty() && text.size() <= longest &&
           std::ranges::all_of(text, [more](char c) { return is_one_of(c, more); });
}

/// Cuts the text at a separator: calls `use` with each part, until one is refused.
template <typename Use>
bool all_parts(std::string_view text, char separator, Use use) {
    while (true) {
        const std::size_t end = text.find(separator);
        if (!use(text.substr(0, end))) return false;
        if (end == std::string_view::npos) return true;
        text.remove_prefix(end + 1);
    }
}

/// One part of a DNS name, as Kubernetes names things.
bool is_dns_label(std::string_view text) {
    const auto plain = [](char c) { return kLower.contains(c) || kDigits.contains(c) || c == '-'; };
    return !text.empty() && text.size() <= 63 && std::ranges::all_of(text, plain) &&
           text.front() != '-' && text.back() != '-';
}

bool is_port(std::string_view text) {
    unsigned port = 0;
    const auto read = std::from_chars(text.begin(), text.end(), port);
    return read.ec == std::errc() && read.ptr == text.end() && port > 0 && port <= 65535;
}

bool is_path_part(std::string_view part) {
    return !part.empty() && part != "." && part != ".." && part.size() <= 255 &&
           std::ranges::none_of(part, [](char c) { return c >= 0 && c < 0x20; });
}

}  // namespace

std::string_view absolute_path(std::string_view text) {
    const bool right =
        text.starts_with('/') && text.size() < 4096 && all_parts(text.substr(1), '/', is_path_part);
    return right ? "" : "an absolute path without //, ., .. and / at its end";
}

std::string_view path_or_nothing(std::string_view text) {
    return text.empty() ? "" : absolute_path(text);
}

std::string_view host_name_or_nothing(std::string_view text) {
    const bool right = text.empty() || (text.size() <= 63 && all_parts(text, '.', is_dns_label));
    return right ? "" : "at most 63 lower-case letters, digits, - and .";
}

std::string_view namespace_name(std::string_view text) {
    return is_dns_label(text) ? "" : "a namespace: lower-case letters, digits and -";
}

std::string_view loopback_address(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    const std::string_view host = text.substr(0, colon);
    const bool right = colon != std::string_view::npos &&
                       (host == "127.0.0.1" || host == "[::1]") && is_port(text.substr(colon + 1));
    return right ? "" : "127.0.0.1:PORT or [::1]:PORT: the API is for this host only";
}

std::string_view socket_path(std::string_view text) {
    if (text.size() >= sizeof(sockaddr_un::sun_path)) return "a path of at most 107 bytes";
    return absolute_path(text);
}

std::string_view user_name(std::string_view text) {
    const bool right = is_word(text, "_-", 32) && (kLower.contains(text[0]) || text[0] == '_');
    return right ? "" : "the name of a user";
}

std::string_view unit_name(std::string_view text) {
    constexpr std::array<std::string_view, 8> kTypes{".service", ".socket", ".target", ".timer",
                                                     ".path",    ".mount",  ".swap",   ".slice"};
    const bool typed = std::ranges::any_of(kTypes, [text](std::string_view type) {
        return text.ends_with(type) && text.size() > type.size();
    });
    return typed && is_word(text, ":_.@\\-", 255) ? "" : "the name of a unit: kubelet.service";
}

std::string_view module_name(std::string_view text) {
    return is_word(text, "_-", 64) ? "" : "the name of a kernel module: br_netfilter";
}

std::string_view link_name(std::string_view text) {
    const bool right = is_word(text, "._-", IFNAMSIZ - 1) && text != "." && text != "..";
    return right ? "" : "the name of a network link: cni0";
}

std::string_view component_name(std::string_view text) {
    const bool right = is_word(text, "._-", 64) && text[0] != '.' && text[0] != '-';
    return right ? "" : "the name of a component: kubelet";
}

std::string_view sysctl_pattern(std::string_view text) {
    const std::string_view key = text.ends_with(".*") ? text.substr(0, text.size() - 2) : text;
    const bool right = text.size() <= 255 && (text.contains('.')) &&
                       all_parts(key, '.', [](auto part) { return is_word(part, "_-", 64); });
    if (!right) return "a sysctl key, net.ipv4.ip_forward, or all below one, fs.inotify.*";
    if (model::is_denied_sysctl(text)) {
        return "none of the keys that make the kernel run programs or give up its protections";
    }
    return "";
}

}  // namespace kubexm::config
