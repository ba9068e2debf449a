#include "daemon/kube/fields.hpp"

#include "daemon/base/secret.hpp"

namespace kubexm::kube {

const nlohmann::json& at(const nlohmann::json& object, std::initializer_list<const char*> path) {
    static const nlohmann::json kNothing;
    const nlohmann::json* found = &object;
    for (const char* name : path) {
        if (!found->is_object()) return kNothing;
        const auto member = found->find(name);
        if (member == found->end()) return kNothing;
        found = &*member;
    }
    return *found;
}

std::string text_at(const nlohmann::json& object, std::initializer_list<const char*> path) {
    const auto* text = at(object, path).get_ptr<const std::string*>();
    return text == nullptr ? std::string() : *text;
}

bool has_key(const nlohmann::json& object, std::initializer_list<const char*> path,
             const char* key) {
    const nlohmann::json& map = at(object, path);
    return map.is_object() && map.contains(key);
}

void wipe_texts(nlohmann::json& value) {
    if (auto* text = value.get_ptr<std::string*>()) return wipe(*text);
    if (!value.is_structured()) return;
    for (nlohmann::json& child : value) wipe_texts(child);
}

}  // namespace kubexm::kube
