#include "daemon/cli/json_document.hpp"

#include <nlohmann/json.hpp>

#include "daemon/base/text.hpp"

namespace kubexm::cli {

const nlohmann::json& member(const nlohmann::json& object, const char* name) {
    static const nlohmann::json kNothing;
    const auto found = object.is_object() ? object.find(name) : object.end();
    return found == object.end() ? kNothing : *found;
}

std::string word(const nlohmann::json& object, const char* name) {
    const auto* text = member(object, name).get_ptr<const nlohmann::json::string_t*>();
    return text == nullptr ? "" : printable(*text);
}

double number(const nlohmann::json& object, const char* name) {
    const nlohmann::json& value = member(object, name);
    return value.is_number() ? value.get<double>() : 0;
}

std::string joined(std::initializer_list<std::string> parts) {
    std::string all;
    for (const std::string& part : parts) {
        if (part.empty()) continue;
        all += (all.empty() ? "" : ": ") + part;
    }
    return all;
}

}  // namespace kubexm::cli
