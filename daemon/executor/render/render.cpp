#include "daemon/executor/render/render.hpp"

#include <utility>

#include "daemon/executor/render/documents.hpp"

namespace kubexm::executor {

namespace {

/// A kubeconfig says who we are and where our key is: for root alone.
unsigned mode_of(const model::Document& document) {
    return std::holds_alternative<model::Kubeconfig>(document) ? 0600 : 0644;
}

}  // namespace

Result<Rendered> render(const model::Document& document) {
    auto content = std::visit([](const auto& kind) { return content_of(kind); }, document);
    if (!content) return std::unexpected(content.error());
    return Rendered{model::path_of(document), std::move(*content), mode_of(document)};
}

}  // namespace kubexm::executor
