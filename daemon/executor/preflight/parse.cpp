// What the host prints about itself. Pure.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "daemon/base/json.hpp"
#include "daemon/base/text.hpp"
#include "daemon/executor/preflight/probe.hpp"

namespace kubexm::executor {

namespace {

std::vector<std::string_view> words_of(std::string_view line) {
    std::vector<std::string_view> words;
    for (std::size_t at = line.find_first_not_of(" \t"); at != std::string_view::npos;) {
        const std::size_t end = std::min(line.find_first_of(" \t", at), line.size());
        words.push_back(line.substr(at, end - at));
        at = line.find_first_not_of(" \t", end);
    }
    return words;
}

template <typename Each>
void each_line(std::string_view text, Each each) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        each(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

}  // namespace

Result<std::string> version_in(const std::string& output) {
    constexpr std::string_view kPrefix = "Kubernetes v";
    std::string_view text = output;
    const bool is_version = text.starts_with(kPrefix) && text.size() > kPrefix.size();
    if (!is_version) {
        return fail(Code::invalid,
                    fmt::format("/usr/local/bin/kubelet --version: expected \"Kubernetes "
                                "vVERSION\", found \"{}\"",
                                printable(text.substr(0, 80))));
    }
    text.remove_prefix(kPrefix.size() - 1);
    return printable(text.substr(0, text.find('\n')));
}

bool sets_command(std::string_view drop_in) {
    bool found = false;
    each_line(drop_in, [&](std::string_view line) {
        const auto words = words_of(line.substr(0, line.find('=')));
        found = found || (words.size() == 1 && words[0] == "ExecStart" &&
                          line.find('=') != std::string_view::npos);
    });
    return found;
}

/// "  sl  local_address rem_address   st ..." with "0: 0100007F:280A 00000000:0000 0A".
bool has_listener(std::string_view table, std::uint16_t port) {
    constexpr std::string_view kListen = "0A";
    const std::string wanted = fmt::format(":{:04X}", port);
    bool found = false;
    each_line(table, [&](std::string_view line) {
        const auto words = words_of(line);
        found = found || (words.size() > 3 && words[1].ends_with(wanted) && words[3] == kListen);
    });
    return found;
}

std::vector<std::string> swaps_in(std::string_view table) {
    std::vector<std::string> names;
    each_line(table, [&](std::string_view line) {
        const auto words = words_of(line);
        if (!words.empty() && words[0].starts_with('/')) names.emplace_back(printable(words[0]));
    });
    return names;
}

std::optional<model::CgroupDriver> driver_in(std::string_view configuration) {
    constexpr JsonLimits kLimits{
        .max_bytes = std::size_t{256} * 1024, .max_depth = 20, .max_values = 5000};
    const auto document = parse_json(configuration, kLimits);
    if (!document) return std::nullopt;
    const nlohmann::json::json_pointer runc("/containerd/runtimes/runc/options/SystemdCgroup");
    if (!document->contains(runc) || !document->at(runc).is_boolean()) return std::nullopt;
    return document->at(runc).get<bool>() ? model::CgroupDriver::systemd
                                          : model::CgroupDriver::cgroupfs;
}

}  // namespace kubexm::executor
