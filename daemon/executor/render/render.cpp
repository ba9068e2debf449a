#include "daemon/executor/render/render.hpp"

#include <utility>

#include "daemon/base/try.hpp"
#include "daemon/executor/render/documents.hpp"

namespace kubexm::executor {

namespace {

/// A kubeconfig names the client key: for root only.
unsigned mode_of(const model::Document& document) {
    return std::holds_alternative<model::Kubeconfig>(document) ? 0600 : 0644;
}

}  // namespace

Result<Rendered> render(const model::Document& document) {
    auto content = TRY(std::visit([](const auto& kind) { return content_of(kind); }, document));
    return Rendered{model::path_of(document), std::move(content), mode_of(document)};
}

}  // namespace kubexm::executor
