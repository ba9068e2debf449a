#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

// YAML of unknown origin, with limits. Only the part of YAML that configurations and kubeconfigs
// need: mappings with texts as keys, lists and texts.

namespace kubexm::yaml {

/// A place in a text, from 1 as editors count; line 0 is the text as a whole.
struct Mark {
    int line = 0;
    int column = 0;

    auto operator<=>(const Mark&) const = default;
};

struct Value;
struct Member;

struct Nothing {};   // a key without a value
struct Rejected {};  // the reason is in YamlDocument::problems
using List = std::vector<Value>;
using Map = std::vector<Member>;

struct Value {
    Mark at;
    std::variant<Nothing, Rejected, std::string, List, Map> content;
};

struct Member {
    std::string key;
    Mark at;
    Value value;
};

struct YamlProblem {
    Mark at;
    std::string what;    // never quotes the text, which may hold a secret
    std::string detail;  // may quote the text; may be empty
};

struct YamlDocument {
    Value root;  // Rejected: the text was not read to its end
    std::vector<YamlProblem> problems;
};

struct YamlLimits {
    std::size_t max_bytes = std::size_t{256} * 1024;
    std::size_t max_depth = 10;
    std::size_t max_values = 4096;
};

/// Every scalar is a string. Problems are anchors, aliases, tags, a second document, duplicate
/// keys, keys that are not texts, control characters, anything but UTF-8, and exceeded limits.
YamlDocument parse(std::string_view text, const YamlLimits& limits = {});

}  // namespace kubexm::yaml
