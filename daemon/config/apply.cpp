#include "daemon/config/apply.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "daemon/base/overloaded.hpp"
#include "daemon/base/text.hpp"
#include "daemon/config/nearest.hpp"

namespace kubexm::config {

using namespace yaml;

namespace {

std::string found(const Value& value) {
    return std::visit(
        overloaded{
            [](const Nothing&) -> std::string {
                return "nothing: omit the key to get its default";
            },
            [](const Rejected&) -> std::string { return ""; },
            [](const std::string& text) { return fmt::format("\"{:.64}\"", printable(text)); },
            [](const List&) -> std::string { return "a list"; },
            [](const Map&) -> std::string { return "a mapping"; },
        },
        value.content);
}

/// The text, if it satisfies the rule; otherwise a problem is added.
const std::string* text_of(const Value& value, const std::string& key, const Rule& rule,
                           const Applying& applying) {
    const auto* text = std::get_if<std::string>(&value.content);
    if (text != nullptr && rule.holds(*text)) return text;
    applying.refuse(value, key, rule.words);
    return nullptr;
}

}  // namespace

void Applying::refuse(const Value& value, const std::string& key, std::string_view expected) const {
    if (std::holds_alternative<Rejected>(value.content)) return;
    problems.add(value.at, fmt::format("{}: expected {}, found {}", key, expected, found(value)));
}

void Applying::refuse_unknown(const Member& member, const std::string& prefix,
                              std::vector<std::string_view> known) const {
    const std::string_view guess = nearest(member.key, known);
    std::ranges::sort(known);
    problems.add(member.at,
                 fmt::format("unknown key \"{}{:.64}\": expected one of {}; the nearest is \"{}\"",
                             prefix, printable(member.key), fmt::join(known, ", "), guess));
}

void read(const Value& value, std::string& to, const std::string& key, const Applying& applying,
          const Rule& rule) {
    if (const std::string* text = text_of(value, key, rule, applying)) {
        to = *text;
        applying.accept(key);
    }
}

void read(const Value& value, std::vector<std::string>& to, const std::string& key,
          const Applying& applying, const Rule& rule) {
    const auto* list = std::get_if<List>(&value.content);
    if (list == nullptr) return applying.refuse(value, key, "a list, [] for none");
    to.clear();
    for (const Value& item : *list) {
        const std::string item_key = fmt::format("{}[{}]", key, &item - list->data());
        const std::string* text = text_of(item, item_key, rule, applying);
        if (text != nullptr) to.push_back(*text);
    }
    applying.accept(key);
}

void read(const Value& value, Lists& to, const std::string& key, const Applying& applying,
          const Rule& rule) {
    const auto* map = std::get_if<Map>(&value.content);
    if (map == nullptr) return applying.refuse(value, key, "a mapping");
    std::vector<std::string_view> known;
    for (const auto& [name, list] : to) known.push_back(name);
    for (const Member& member : *map) {
        if (const auto list = to.find(member.key); list != to.end()) {
            read(member.value, list->second, key + "." + member.key, applying, rule);
        } else {
            applying.refuse_unknown(member, key + ".", known);
        }
    }
}

Value parse_file(std::string_view text, Problems& problems) {
    YamlDocument document = parse(text, {.max_bytes = kMaxFileBytes});
    for (const auto& [at, what, detail] : document.problems) {
        problems.add(at,
                     detail.empty() ? what : fmt::format("{}: {:.64}", what, printable(detail)));
    }
    return std::move(document.root);
}

}  // namespace kubexm::config
