#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "daemon/base/error.hpp"
#include "daemon/model/document.hpp"

namespace kubexm::executor {

/// A document as a file.
struct Rendered {
    std::string path;
    std::string content;
    unsigned mode = 0644;
};

/// Pure. Validates every parameter with its grammar (base/grammar.hpp), so that no parameter can
/// add a line, a directive, a flag or a key. invalid: names the member and the rule.
Result<Rendered> render(const model::Document& document);

/// The API server, and the name in its certificate, of kubelet's kubeconfig on a host; nothing: the
/// text is none that this module rendered.
std::optional<model::Kubeconfig> kubeconfig_from(std::string_view text);

}  // namespace kubexm::executor
