#pragma once

#include <string>

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

}  // namespace kubexm::executor
