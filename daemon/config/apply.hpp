#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "daemon/base/grammar.hpp"
#include "daemon/base/names.hpp"
#include "daemon/base/yaml.hpp"
#include "daemon/config/file.hpp"
#include "daemon/config/problems.hpp"
#include "daemon/config/settings.hpp"

// Reads the values of a YAML file into the members of a configuration, by the keys that its structs
// name. Private to the module and its tests.

namespace kubexm::config {

template <typename T>
concept Settings =
    requires(T& value) { T::fields(value, [](std::string_view, auto&, auto...) {}); };

using Lists = std::map<std::string, std::vector<std::string>>;

/// Collects the outcome of each value of a file.
struct Applying {
    Problems& problems;
    Origins& origins;

    void accept(const std::string& key) const { origins[key] = problems.file(); }
    void refuse(const yaml::Value& value, const std::string& key, std::string_view expected) const;
    void refuse_unknown(const yaml::Member& member, const std::string& prefix,
                        std::vector<std::string_view> known) const;
};

void read(const yaml::Value& value, std::string& to, const std::string& key,
          const Applying& applying, const Rule& rule);
void read(const yaml::Value& value, std::vector<std::string>& to, const std::string& key,
          const Applying& applying, const Rule& rule);
/// The permitted keys are those in `to`.
void read(const yaml::Value& value, Lists& to, const std::string& key, const Applying& applying,
          const Rule& rule);

template <Named Enum>
void read(const yaml::Value& value, Enum& to, const std::string& key, const Applying& applying) {
    const auto* text = std::get_if<std::string>(&value.content);
    const auto named = text == nullptr ? std::nullopt : from_name<Enum>(*text);
    if (!named) return applying.refuse(value, key, "one of " + all_names<Enum>());
    to = *named;
    applying.accept(key);
}

template <Settings T>
void read(const yaml::Value& value, T& to, const std::string& key, const Applying& applying);

/// Reads the members of a mapping that `fields` names.
struct MemberReader {
    const yaml::Map& map;
    const std::string& prefix;  // "", "log."
    const Applying& applying;
    std::vector<std::string_view>& known;

    template <typename T>
    void operator()(std::string_view key, T& to, auto... rule) const {
        known.push_back(key);
        for (const yaml::Member& member : map) {
            if (member.key == key) read(member.value, to, prefix + member.key, applying, rule...);
        }
    }
};

template <Settings T>
void read_members(const yaml::Map& map, T& to, const std::string& prefix,
                  const Applying& applying) {
    std::vector<std::string_view> known;
    T::fields(to, MemberReader{map, prefix, applying, known});
    for (const yaml::Member& member : map) {
        if (std::find(known.begin(), known.end(), member.key) == known.end()) {
            applying.refuse_unknown(member, prefix, known);
        }
    }
}

template <Settings T>
void read(const yaml::Value& value, T& to, const std::string& key, const Applying& applying) {
    if (const auto* map = std::get_if<yaml::Map>(&value.content)) {
        return read_members(*map, to, key + ".", applying);
    }
    applying.refuse(value, key, "a mapping");
}

yaml::Value parse_file(std::string_view text, Problems& problems);

/// Reads a file into `to`. A file without any value changes nothing.
template <Settings T>
void apply(std::string_view text, T& to, Problems& problems) {
    const yaml::Value root = parse_file(text, problems);
    if (std::holds_alternative<yaml::Nothing>(root.content)) return;
    const Applying applying{problems, to.origins};
    const auto* map = std::get_if<yaml::Map>(&root.content);
    if (map == nullptr) return applying.refuse(root, "the file", "a mapping");
    read_members(*map, to, "", applying);
}

}  // namespace kubexm::config
