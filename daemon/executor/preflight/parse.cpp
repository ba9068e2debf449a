// Reads texts that the host prints about itself. Pure.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "daemon/base/json.hpp"
#include "daemon/base/scan.hpp"
#include "daemon/base/text.hpp"
#include "daemon/executor/preflight/probe.hpp"

namespace kubexm::executor {

namespace {

/// Where it has no name, containerd's own default.
const nlohmann::json* default_runtime(const nlohmann::json& document) {
    using Pointer = nlohmann::json::json_pointer;
    const Pointer name("/containerd/defaultRuntimeName");
    const bool is_named = document.contains(name) && document.at(name).is_string() &&
                          !document.at(name).get_ref<const std::string&>().empty();
    const auto runtime = Pointer("/containerd/runtimes") /
                         (is_named ? document.at(name).get<std::string>() : std::string("runc"));
    const bool is_there = document.contains(runtime) && document.at(runtime).is_object();
    return is_there ? &document.at(runtime) : nullptr;
}

/// Others, such as virtual machines, have other options.
bool is_runc(const nlohmann::json& runtime) {
    const auto type = runtime.find("runtimeType");
    if (type == runtime.end() || !type->is_string()) return true;
    return type->get_ref<const std::string&>().starts_with("io.containerd.runc.");
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

/// "  sl  local_address rem_address   st ..." with "0: 0100007F:280A 00000000:0000 0A".
bool has_listener(std::string_view table, std::uint16_t port) {
    constexpr std::string_view kListen = "0A";
    const std::string wanted = fmt::format(":{:04X}", port);
    return std::ranges::any_of(lines_of(table), [&](std::string_view line) {
        const auto words = words_of(line);
        return words.size() > 3 && words[1].ends_with(wanted) && words[3] == kListen;
    });
}

std::vector<std::string> swaps_in(std::string_view table) {
    std::vector<std::string> names;
    for (const std::string_view line : lines_of(table)) {
        const auto words = words_of(line);
        if (!words.empty() && words[0].starts_with('/')) names.emplace_back(printable(words[0]));
    }
    return names;
}

std::optional<model::CgroupDriver> driver_in(std::string_view configuration) {
    constexpr JsonLimits kLimits{
        .max_bytes = std::size_t{256} * 1024, .max_depth = 20, .max_values = 5000};
    const auto document = parse_json(configuration, kLimits);
    if (!document) return std::nullopt;
    const nlohmann::json* const runtime = default_runtime(*document);
    if (runtime == nullptr || !is_runc(*runtime)) return std::nullopt;
    const nlohmann::json::json_pointer option("/options/SystemdCgroup");
    const bool is_systemd = runtime->contains(option) && runtime->at(option) == true;
    return is_systemd ? model::CgroupDriver::systemd : model::CgroupDriver::cgroupfs;
}

}  // namespace kubexm::executor
