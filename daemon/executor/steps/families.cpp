#include "daemon/executor/steps/families.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "daemon/base/codec.hpp"
#include "daemon/base/overloaded.hpp"
#include "daemon/base/try.hpp"
#include "daemon/base/yaml.hpp"
#include "daemon/executor/steps/family_texts.hpp"

namespace kubexm::executor::families {

namespace {

nlohmann::json json_of(const yaml::Value& value);

nlohmann::json object_of(const yaml::Map& members) {
    auto object = nlohmann::json::object();
    for (const yaml::Member& member : members) object[member.key] = json_of(member.value);
    return object;
}

nlohmann::json array_of(const yaml::List& items) {
    auto array = nlohmann::json::array();
    for (const yaml::Value& item : items) array.push_back(json_of(item));
    return array;
}

nlohmann::json json_of(const yaml::Value& value) {
    return std::visit(overloaded{
                          [](const std::string& text) { return nlohmann::json(text); },
                          [](const yaml::List& items) { return array_of(items); },
                          [](const yaml::Map& members) { return object_of(members); },
                          [](const yaml::Nothing&) { return nlohmann::json(); },
                          [](const yaml::Rejected&) { return nlohmann::json(); },
                      },
                      value.content);
}

void add(ObjectNames& names, const std::vector<Facts>& facts) {
    for (const Facts& fact : facts) {
        names.insert(names.end(), fact.names.begin(), fact.names.end());
    }
}

void add_companions(Patterns& patterns, const std::vector<Facts>& paths) {
    for (const Facts& fact : paths) {
        if (!fact.only_with) continue;
        for (const std::string& name : fact.names) {
            patterns.companions[name].push_back(*fact.only_with);
        }
    }
}

bool matches(std::string_view pattern, std::string_view name) {
    if (!pattern.ends_with('*')) return name == pattern;
    pattern.remove_suffix(1);
    return name.starts_with(pattern);
}

}  // namespace

Result<Family> family_from(std::string_view text) {
    const yaml::YamlDocument document = yaml::parse(text);
    if (!document.problems.empty()) {
        const yaml::YamlProblem& first = document.problems.front();
        return fail(Code::invalid, fmt::format("family: line {}: {}", first.at.line, first.what));
    }
    Family family;
    TRY(codec::decode(json_of(document.root), family, {"family"}));
    return family;
}

Result<std::vector<Family>> all() {
    std::vector<Family> families;
    families.reserve(std::size(kFamilyTexts));
    for (const std::string_view text : kFamilyTexts) {
        families.push_back(TRY(family_from(text)));
    }
    return families;
}

Patterns merged(const std::vector<Family>& families) {
    Patterns patterns;
    for (const Family& family : families) {
        add(patterns.paths, family.paths);
        add_companions(patterns, family.paths);
        add(patterns.mounts, family.mounts);
        add(patterns.links, family.links);
        add(patterns.tables, family.tables);
        add(patterns.chains, family.chains);
        add(patterns.comments, family.comments);
        add(patterns.sets, family.sets);
        patterns.routes.insert(patterns.routes.end(), family.routes.begin(), family.routes.end());
        add(patterns.others, family.others);
    }
    return patterns;
}

Result<Patterns> known() {
    static const auto families = all();
    if (!families) return std::unexpected(families.error());
    return merged(*families);
}

bool has(const ObjectNames& patterns, std::string_view name) {
    return std::ranges::any_of(patterns,
                               [&](const std::string& pattern) { return matches(pattern, name); });
}

}  // namespace kubexm::executor::families
