#include "daemon/base/grammar.hpp"
#include "daemon/base/scan.hpp"

namespace kubexm {

namespace {

constexpr std::size_t kMaxSysctl = 255;

/// Not "-" first: sysctl.d reads that as "ignore errors" or as an exclusion.
bool is_kernel_name(std::string_view text) {
    const auto is_part = [](char c) { return is_alphanumeric(c) || one_of(c, "_-"); };
    return made_of(text, is_part) && text.front() != '-';
}

/// "1", "-1", "bbr", "30000-32767,40000".
bool is_sysctl_word(std::string_view text) {
    const auto is_part = [](char c) { return is_name_character(c) || one_of(c, ",:"); };
    if (text.starts_with('-')) return made_of(text.substr(1), is_digit);
    return made_of(text, is_part);
}

}  // namespace

bool is_sysctl_key(std::string_view text) {
    return text.size() <= kMaxSysctl && text.find('.') != std::string_view::npos &&
           every_part(text, '.', is_kernel_name);
}

bool is_sysctl_pattern(std::string_view text) {
    if (!text.ends_with(".*")) return is_sysctl_key(text);
    return text.size() <= kMaxSysctl &&
           every_part(text.substr(0, text.size() - 2), '.', is_kernel_name);
}

bool is_sysctl_value(std::string_view text) {
    return text.size() <= kMaxSysctl && every_part(text, ' ', is_sysctl_word);
}

bool is_module_name(std::string_view text) {
    constexpr std::size_t kMaxModule = 55;  // the kernel's MODULE_NAME_LEN less its NUL
    return text.size() <= kMaxModule && is_kernel_name(text);
}

}  // namespace kubexm
