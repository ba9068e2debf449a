// Prints the words of the model as JSON, for tests that compare documents with them:
// {"steps": {TYPE: [PARAMETER...]}, "documents": {TYPE: [PARAMETER...]}, "phases": [...],
// "verbs": [...]}.

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>

#include "daemon/model/command.hpp"
#include "daemon/model/snapshot.hpp"
#include "daemon/model/step.hpp"

using nlohmann::json;

namespace {

template <typename Struct>
json parameters_of() {
    Struct example;
    json names = json::array();
    Struct::fields(example, [&names](const char* name, const auto&...) { names.push_back(name); });
    return names;
}

template <typename... Structs>
json structs_of(const std::variant<Structs...>* /*type*/) {
    json found = json::object();
    ((found[std::string(Structs::kType)] = parameters_of<Structs>()), ...);
    return found;
}

template <typename Enum>
json names_of() {
    json names = json::array();
    for (const auto& [value, name] : kubexm::Names<Enum>::kAll) names.push_back(std::string(name));
    return names;
}

}  // namespace

int main() {
    const json words{{"steps", structs_of(static_cast<kubexm::model::Step*>(nullptr))},
                     {"documents", structs_of(static_cast<kubexm::model::Document*>(nullptr))},
                     {"phases", names_of<kubexm::model::Phase>()},
                     {"verbs", names_of<kubexm::model::Verb>()}};
    std::puts(words.dump().c_str());
}
