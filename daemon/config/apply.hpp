#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "daemon/base/names.hpp"
#include "daemon/config/document.hpp"
#include "daemon/config/problems.hpp"
#include "daemon/config/rules.hpp"
#include "daemon/config/settings.hpp"

// A document's values into the members of a configuration, by the keys its structs name. Private
// to the module and its tests.

namespace kubexm::config {

template <typename T>
concept Settings =
    requires(T& value) { T::fields(value, [](std::string_view, auto&, auto...) {}); };

using Lists = std::map<std::string, std::vector<std::string>>;

/// Where it is noted what came of each value of a file.
struct Applying {
    Problems& problems;
    Origins& origins;

    /// A value stands where the file sets it.
    void accept(const std::string& place) const { origins[place] = problems.file(); }
    void refuse(const Value& value, const std::string& place, std::string_view expected) const;
    void refuse_unknown(const Member& member, const std::string& prefix,
                        std::vector<std::string_view> known) const;
};

void read(const Value& value, std::string& to, const std::string& place, const Applying& applying,
          Rule rule);
void read(const Value& value, std::vector<std::string>& to, const std::string& place,
          const Applying& applying, Rule rule);
/// The keys are those that `to` has already.
void read(const Value& value, Lists& to, const std::string& place, const Applying& applying,
          Rule rule);

template <Named Enum>
void read(const Value& value, Enum& to, const std::string& place, const Applying& applying) {
    const auto* text = std::get_if<std::string>(&value.content);
    std::string words;
    for (const auto& [meaning, word] : Names<Enum>::kAll) {
        if (text != nullptr && *text == word) {
            to = meaning;
            return applying.accept(place);
        }
        words += (words.empty() ? "" : ", ") + std::string(word);
    }
    applying.refuse(value, place, "one of " + words);
}

template <Settings T>
void read(const Value& value, T& to, const std::string& place, const Applying& applying);

/// Takes the members of a mapping one by one, as `fields` names them.
struct MemberReader {
    const Map& map;
    const std::string& prefix;  // "", "log."
    const Applying& applying;
    std::vector<std::string_view>& known;

    template <typename T>
    void operator()(std::string_view key, T& to, auto... rule) const {
        known.push_back(key);
        for (const Member& member : map) {
            if (member.key == key) read(member.value, to, prefix + member.key, applying, rule...);
        }
    }
};

template <Settings T>
void read_members(const Map& map, T& to, const std::string& prefix, const Applying& applying) {
    std::vector<std::string_view> known;
    T::fields(to, MemberReader{map, prefix, applying, known});
    for (const Member& member : map) {
        if (std::find(known.begin(), known.end(), member.key) == known.end()) {
            applying.refuse_unknown(member, prefix, known);
        }
    }
}

template <Settings T>
void read(const Value& value, T& to, const std::string& place, const Applying& applying) {
    if (const auto* map = std::get_if<Map>(&value.content)) {
        return read_members(*map, to, place + ".", applying);
    }
    applying.refuse(value, place, "a mapping");
}

/// Sets what a file says; `problems` began that file. A file without any value changes nothing.
template <Settings T>
void apply(std::string_view text, T& to, Problems& problems) {
    const auto root = parse_document(text, problems);
    if (!root || std::holds_alternative<Nothing>(root->content)) return;
    const Applying applying{problems, to.origins};
    const auto* map = std::get_if<Map>(&root->content);
    if (map == nullptr) return applying.refuse(*root, "the file", "a mapping");
    read_members(*map, to, "", applying);
}

}  // namespace kubexm::config
