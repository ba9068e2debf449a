#include <fmt/format.h>

#include "daemon/base/grammar.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/render/documents.hpp"
#include "daemon/executor/render/validation.hpp"

namespace kubexm::executor {

namespace {

Result<> validate(const model::SysctlFile& file) {
    Validation validation;
    std::vector<std::string> keys;
    for (const auto& [key, value] : file.values) {
        const std::string place = element("values", keys.size());
        validation.text(place + ".key", key, kSysctlKey);
        validation.text(place + ".value", value, kSysctlValue);
        keys.push_back(key);
    }
    validation.keys("values", keys);
    return validation.outcome();
}

}  // namespace

Result<std::string> content_of(const model::SysctlFile& file) {
    TRY(validate(file));
    std::string text = fmt::format("# {}\n", kNotice);
    for (const auto& [key, value] : file.values) text += fmt::format("{} = {}\n", key, value);
    return text;
}

}  // namespace kubexm::executor
