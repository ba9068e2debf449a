#include "daemon/agent/facts.hpp"

#include <fmt/format.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <iterator>
#include <sstream>

namespace kubexm::agent {

namespace {

std::string read_text(const char* path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::string first_line(const char* path) {
    std::string text = read_text(path);
    return text.substr(0, text.find('\n'));
}

/// As Go names them, which is what the management cluster compares with.
std::string architecture_of(std::string_view machine) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kNames{
        {{"x86_64", "amd64"}, {"aarch64", "arm64"}, {"ppc64le", "ppc64le"}, {"s390x", "s390x"}}};
    for (const auto& [kernel, go] : kNames) {
        if (machine == kernel) return std::string(go);
    }
    return std::string(machine);
}

bool is_host_name(std::string_view name) {
    const auto plain = [](unsigned char c) {
        return std::islower(c) != 0 || std::isdigit(c) != 0 || c == '-' || c == '.';
    };
    return !name.empty() && name.size() <= 63 && std::ranges::all_of(name, plain) &&
           std::isalnum(static_cast<unsigned char>(name.front())) != 0 &&
           std::isalnum(static_cast<unsigned char>(name.back())) != 0;
}

Result<std::string> host_name(const std::string& configured) {
    struct utsname kernel{};
    if (::uname(&kernel) != 0) return from_errno("uname", "this host");
    std::string name = configured.empty() ? kernel.nodename : configured;
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    if (is_host_name(name)) return name;
    return fail(
        Code::invalid,
        fmt::format("the host is called \"{:.64}\"; expected at most 63 letters, digits, - and "
                    ".: set host.name in kubexmd.yaml",
                    name));
}

}  // namespace

std::string os_image_of(std::string_view os_release) {
    std::istringstream lines{std::string(os_release)};
    for (std::string line; std::getline(lines, line);) {
        constexpr std::string_view kKey = "PRETTY_NAME=";
        if (!line.starts_with(kKey)) continue;
        std::string value = line.substr(kKey.size());
        std::erase(value, '"');
        for (auto lts = value.find(" LTS"); lts != std::string::npos; lts = value.find(" LTS")) {
            value.erase(lts, std::string_view(" LTS").size());
        }
        return value;
    }
    return "Unknown";
}

std::string default_interface_of(std::string_view routes) {
    std::istringstream lines{std::string(routes)};
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string interface;
        std::string destination;
        words >> interface >> destination;
        if (destination == "00000000") return interface;
    }
    return "";
}

Result<model::HostFacts> read_facts(const std::string& name) {
    auto called = host_name(name);
    if (!called) return std::unexpected(called.error());
    struct utsname kernel{};
    struct sysinfo memory{};
    if (::uname(&kernel) != 0 || ::sysinfo(&memory) != 0) return from_errno("sysinfo", "this host");
    std::string release = read_text("/etc/os-release");
    if (release.empty()) release = read_text("/usr/lib/os-release");
    return model::HostFacts{
        .name = *std::move(called),
        .os_image = os_image_of(release),
        .architecture = architecture_of(kernel.machine),
        .machine_id = first_line("/etc/machine-id"),
        .cpus = static_cast<std::uint32_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN))),
        .memory_bytes = static_cast<std::int64_t>(memory.totalram * memory.mem_unit)};
}

}  // namespace kubexm::agent
