#pragma once

#include <string>

#include "daemon/base/error.hpp"
#include "daemon/model/document.hpp"

namespace kubexm::executor {

/// A document as the file it becomes.
struct Rendered {
    std::string path;
    std::string content;
    unsigned mode = 0644;
};

/// Pure. Every parameter is validated against the grammar of what it becomes (node names, labels,
/// taints, addresses, image references, URLs, DNS names, sysctl keys): invalid names the member and
/// the rule. Nothing a caller says can add a line, a directive, a flag or a key of its own.
Result<Rendered> render(const model::Document& document);

}  // namespace kubexm::executor
