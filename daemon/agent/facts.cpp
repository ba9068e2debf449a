#include "daemon/agent/facts.hpp"

#include <fmt/format.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "daemon/base/grammar.hpp"
#include "daemon/base/io.hpp"
#include "daemon/base/scan.hpp"
#include "daemon/base/try.hpp"

namespace kubexm::agent {

namespace {

/// Empty where the file cannot be read.
std::string read_text(const char* path) {
    constexpr std::size_t kMaxBytes = std::size_t{64} * 1024;
    return read_file(path, kMaxBytes).value_or("");
}

std::string first_line(const char* path) {
    const std::string text = read_text(path);
    return text.substr(0, text.find('\n'));
}

/// Go's name, which the management cluster compares with.
std::string architecture_of(std::string_view machine) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kNames{
        {{"x86_64", "amd64"}, {"aarch64", "arm64"}, {"ppc64le", "ppc64le"}, {"s390x", "s390x"}}};
    for (const auto& [kernel, go] : kNames) {
        if (machine == kernel) return std::string(go);
    }
    return std::string(machine);
}

Result<std::string> host_name(std::string name) {
    for (char& c : name) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    if (is_node_name(name)) return name;
    return fail(Code::invalid, fmt::format("host name \"{:.64}\": expected {}; set host.name in "
                                           "kubexmd.yaml",
                                           name, kNodeName.words));
}

}  // namespace

std::string os_image_of(std::string_view os_release) {
    for (const std::string_view line : lines_of(os_release)) {
        constexpr std::string_view kKey = "PRETTY_NAME=";
        if (!line.starts_with(kKey)) continue;
        std::string value(line.substr(kKey.size()));
        std::erase(value, '"');
        for (auto lts = value.find(" LTS"); lts != std::string::npos; lts = value.find(" LTS")) {
            value.erase(lts, std::string_view(" LTS").size());
        }
        return value;
    }
    return "Unknown";
}

std::string default_interface_of(std::string_view routes) {
    for (const std::string_view line : lines_of(routes)) {
        const auto words = words_of(line);
        if (words.size() > 1 && words[1] == "00000000") return std::string(words[0]);
    }
    return "";
}

Result<std::string> read_name(const std::string& configured) {
    struct utsname kernel{};
    if (::uname(&kernel) != 0) return from_errno("uname", "this host");
    return host_name(configured.empty() ? kernel.nodename : configured);
}

Result<model::HostFacts> read_facts(const std::string& name) {
    struct utsname kernel{};
    struct sysinfo memory{};
    if (::uname(&kernel) != 0 || ::sysinfo(&memory) != 0) return from_errno("sysinfo", "this host");
    std::string valid_name = TRY(read_name(name));
    std::string release = read_text("/etc/os-release");
    if (release.empty()) release = read_text("/usr/lib/os-release");
    return model::HostFacts{
        .name = std::move(valid_name),
        .os_image = os_image_of(release),
        .architecture = architecture_of(kernel.machine),
        .machine_id = first_line("/etc/machine-id"),
        .cpus = static_cast<std::uint32_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN))),
        .memory_bytes = static_cast<std::int64_t>(memory.totalram * memory.mem_unit),
        .interfaces = interfaces_of(read_links())};
}

}  // namespace kubexm::agent
