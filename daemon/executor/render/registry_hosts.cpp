#include <fmt/format.h>
#include <toml++/toml.h>

#include <sstream>

#include "daemon/base/grammar.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/render/documents.hpp"
#include "daemon/executor/render/validation.hpp"
#include "daemon/model/step_names.hpp"

namespace kubexm::executor {

namespace {

using model::RegistryHosts;
using model::RegistryMirror;

void validate_mirror(Validation& validation, const std::string& place,
                     const RegistryMirror& mirror) {
    validation.text(place + ".endpoint", mirror.endpoint, kRegistryUrl);
    validation.optional_text(place + ".ca", mirror.ca, kCertificateName);
    std::vector<std::string> names;
    names.reserve(mirror.capabilities.size());
    for (const auto capability : mirror.capabilities) names.emplace_back(name_of(capability));
    validation.that(!names.empty(), place + ".capabilities", "pull, resolve or both");
    validation.keys(place + ".capabilities", names);
    const bool is_plain = mirror.endpoint.starts_with("http://");
    validation.that(!is_plain || mirror.ca.empty(), place + ".ca", "none for an http:// endpoint");
}

Result<> validate(const RegistryHosts& hosts) {
    Validation validation;
    validation.text("registry", hosts.registry, kRegistry);
    std::vector<std::string> endpoints;
    for (const RegistryMirror& mirror : hosts.mirrors) {
        validate_mirror(validation, element("mirrors", endpoints.size()), mirror);
        endpoints.push_back(mirror.endpoint);
    }
    validation.that(!endpoints.empty(), "mirrors", "at least one");
    validation.keys("mirrors", endpoints);
    return validation.outcome();
}

toml::table table_of(const RegistryMirror& mirror) {
    toml::array capabilities;
    for (const auto each : mirror.capabilities) capabilities.push_back(std::string(name_of(each)));
    toml::table table{{"capabilities", std::move(capabilities)}};
    if (!mirror.ca.empty()) {
        table.insert("ca", fmt::format("{}/{}", model::kRegistryCas, mirror.ca));
    }
    return table;
}

}  // namespace

/// containerd asks the mirrors in the order of their lines, and a toml::table sorts its keys: each
/// mirror is a document of its own.
Result<std::string> content_of(const RegistryHosts& hosts) {
    TRY(validate(hosts));
    std::ostringstream out;
    out << "# " << kNotice << "\n";
    for (const RegistryMirror& mirror : hosts.mirrors) {
        const toml::table document{{"host", toml::table{{mirror.endpoint, table_of(mirror)}}}};
        out << "\n" << toml::toml_formatter{document, toml::format_flags::none} << "\n";
    }
    return std::move(out).str();
}

}  // namespace kubexm::executor
