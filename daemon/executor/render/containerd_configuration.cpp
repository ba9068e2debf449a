#include <fmt/format.h>
#include <toml++/toml.h>

#include <sstream>

#include "daemon/base/grammar.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/render/documents.hpp"
#include "daemon/executor/render/validation.hpp"

namespace kubexm::executor {

namespace {

using model::ContainerdConfiguration;

Result<> validate(const ContainerdConfiguration& configuration) {
    Validation validation;
    validation.that(
        configuration.version == 2 || configuration.version == 3, "version",
        fmt::format("2 for containerd 1.x or 3 for 2.x, not {}", configuration.version));
    validation.text("sandbox_image", configuration.sandbox_image, kImageReference);
    return validation.outcome();
}

/// One directory per registry: document registry-hosts.
toml::table registry() { return toml::table{{"config_path", "/etc/containerd/certs.d"}}; }

/// runtime_type is containerd's default, but naming a runtime drops its defaults.
toml::table runtimes(model::CgroupDriver driver) {
    const bool systemd = driver == model::CgroupDriver::systemd;
    return toml::table{
        {"runtimes",
         toml::table{{"runc", toml::table{{"runtime_type", "io.containerd.runc.v2"},
                                          {"options", toml::table{{"SystemdCgroup", systemd}}}}}}}};
}

toml::table plugins_of_1(const ContainerdConfiguration& configuration) {
    return toml::table{{"io.containerd.grpc.v1.cri",
                        toml::table{{"sandbox_image", configuration.sandbox_image},
                                    {"registry", registry()},
                                    {"containerd", runtimes(configuration.cgroup_driver)}}}};
}

toml::table plugins_of_2(const ContainerdConfiguration& configuration) {
    return toml::table{
        {"io.containerd.cri.v1.images",
         toml::table{{"pinned_images", toml::table{{"sandbox", configuration.sandbox_image}}},
                     {"registry", registry()}}},
        {"io.containerd.cri.v1.runtime",
         toml::table{{"containerd", runtimes(configuration.cgroup_driver)}}}};
}

}  // namespace

Result<std::string> content_of(const ContainerdConfiguration& configuration) {
    TRY(validate(configuration));
    const toml::table document{
        {"version", configuration.version},
        {"plugins",
         configuration.version == 2 ? plugins_of_1(configuration) : plugins_of_2(configuration)}};
    std::ostringstream out;
    out << "# " << kNotice << "\n"
        << toml::toml_formatter{document, toml::format_flags::none} << "\n";
    return std::move(out).str();
}

}  // namespace kubexm::executor
