#include "daemon/base/grammar.hpp"
#include "daemon/base/hex.hpp"
#include "daemon/base/host_names.hpp"
#include "daemon/base/scan.hpp"

// NAME[:TAG][@sha256:DIGEST] as containerd parses it, NAME = [HOST[:PORT]/]COMPONENT[/COMPONENT]...

namespace kubexm {

namespace {

constexpr auto npos = std::string_view::npos;

/// Between two runs of letters and digits in a component.
bool is_separator(std::string_view text) {
    return text == "." || text == "_" || text == "__" ||
           made_of(text, [](char c) { return c == '-'; });
}

bool is_component(std::string_view text) {
    for (;;) {
        const auto separator = std::ranges::find_if_not(text, is_lower_or_digit);
        const auto run = static_cast<std::size_t>(separator - text.begin());
        if (run == 0) return false;
        text.remove_prefix(run);
        if (text.empty()) return true;
        const auto next = std::ranges::find_if(text, is_lower_or_digit);
        const auto length = static_cast<std::size_t>(next - text.begin());
        if (!is_separator(text.substr(0, length))) return false;
        text.remove_prefix(length);
    }
}

bool is_tag(std::string_view text) {
    constexpr std::size_t kMaxTag = 128;
    return text.size() <= kMaxTag && made_of(text, is_name_character) &&
           !one_of(text.front(), ".-");
}

bool is_digest(std::string_view text) {
    constexpr std::string_view kAlgorithm = "sha256:";
    return text.starts_with(kAlgorithm) && is_sha256(text.substr(kAlgorithm.size()));
}

bool is_name(std::string_view text) {
    constexpr std::size_t kMaxName = 255;
    if (text.size() > kMaxName) return false;
    if (const std::string_view host = host_in_image(text); !host.empty()) {
        if (!is_endpoint(host)) return false;
        text.remove_prefix(host.size() + 1);
    }
    return every_part(text, '/', is_component);
}

}  // namespace

bool is_image_reference(std::string_view text) {
    if (const std::size_t at = text.find('@'); at != npos) {
        if (!is_digest(text.substr(at + 1))) return false;
        text = text.substr(0, at);
    }
    // A colon after the last slash begins the tag; one before it belongs to a port.
    const std::size_t path_end = text.rfind('/') == npos ? 0 : text.rfind('/');
    if (const std::size_t colon = text.find(':', path_end); colon != npos) {
        if (!is_tag(text.substr(colon + 1))) return false;
        text = text.substr(0, colon);
    }
    return is_name(text);
}

}  // namespace kubexm
