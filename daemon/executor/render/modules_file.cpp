#include <fmt/format.h>

#include "daemon/base/grammar.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/render/documents.hpp"
#include "daemon/executor/render/validation.hpp"

namespace kubexm::executor {

namespace {

Result<> validate(const model::ModulesFile& file) {
    Validation validation;
    for (std::size_t i = 0; i < file.modules.size(); ++i) {
        validation.text(element("modules", i), file.modules[i], kModuleName);
    }
    validation.keys("modules", file.modules);
    return validation.outcome();
}

}  // namespace

Result<std::string> content_of(const model::ModulesFile& file) {
    TRY(validate(file));
    std::string text = fmt::format("# {}\n", kNotice);
    for (const std::string& name : file.modules) text += name + "\n";
    return text;
}

}  // namespace kubexm::executor
