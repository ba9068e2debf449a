#pragma once

#include <string_view>

namespace kubexm {

/// Every host has that name: "localhost", "localhost.localdomain".
constexpr bool is_local_name(std::string_view name) {
    return name == "localhost" || name.starts_with("localhost.");
}

/// The registry that an image names, as containerd reads it: a first component with a dot or colon,
/// or "localhost". Empty: none.
constexpr std::string_view host_in_image(std::string_view image) {
    const std::size_t slash = image.find('/');
    if (slash == std::string_view::npos) return {};
    const std::string_view first = image.substr(0, slash);
    const bool is_host =
        first == "localhost" || first.find_first_of(".:") != std::string_view::npos;
    return is_host ? first : std::string_view();
}

}  // namespace kubexm
