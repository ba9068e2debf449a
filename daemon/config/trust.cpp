#include "daemon/config/trust.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "daemon/base/hex.hpp"
#include "daemon/base/scan.hpp"
#include "daemon/config/file.hpp"

namespace kubexm::config {

namespace {

constexpr std::size_t kDigestSize = 64;

/// Adds the entry of one line. False: the line is malformed, or contradicts an earlier one.
bool read_line(std::string_view line, std::map<std::string, std::string>& digests) {
    const std::string_view digest = line.substr(0, kDigestSize);
    if (!is_sha256(digest) || line.size() < kDigestSize + 3) return false;
    const std::string_view gap = line.substr(kDigestSize, 2);
    const std::string_view name = line.substr(kDigestSize + 2);
    if ((gap != "  " && gap != " *") || std::ranges::count(name, '/') < 2) return false;
    const auto [entry, is_new] = digests.emplace(name, digest);
    return is_new || entry->second == digest;
}

}  // namespace

Result<std::map<std::string, std::string>> load_trust(const std::string& file, uid_t owner) {
    std::map<std::string, std::string> digests;
    auto text = read_config_of(file, owner);
    if (!text && text.error().code == Code::not_found) return digests;
    if (!text) return std::unexpected(text.error());
    int number = 0;
    for (const std::string_view line : lines_of(*text)) {
        ++number;
        if (line.empty() || line.starts_with('#') || read_line(line, digests)) continue;
        return fail(Code::invalid,
                    fmt::format("{}:{}: expected a line as sha256sum prints it, with one digest "
                                "per name: DIGEST  COMPONENT/VERSION/FILE",
                                file, number));
    }
    return digests;
}

}  // namespace kubexm::config
