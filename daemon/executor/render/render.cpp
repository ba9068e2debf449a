#include "daemon/executor/render/render.hpp"

#include <utility>

#include "daemon/base/overloaded.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/render/documents.hpp"

namespace kubexm::executor {

namespace {

/// A kubeconfig names the client key: for root only.
unsigned mode_of(const model::Document& document) {
    return std::visit(
        overloaded{
            [](const model::Kubeconfig&) { return 0600U; },
            [](const OneOf<model::KubeletService, model::KubeletConfiguration,
                           model::ContainerdConfiguration, model::RegistryHosts,
                           model::CniConfiguration, model::ProxyDropIn, model::SysctlFile,
                           model::ModulesFile> auto&) { return 0644U; },
        },
        document);
}

}  // namespace

Result<Rendered> render(const model::Document& document) {
    auto content = TRY(std::visit([](const auto& kind) { return content_of(kind); }, document));
    return Rendered{model::path_of(document), std::move(content), mode_of(document)};
}

}  // namespace kubexm::executor
