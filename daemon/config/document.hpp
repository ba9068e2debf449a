#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "daemon/config/problems.hpp"

namespace kubexm::config {

inline constexpr std::size_t kMaxFileBytes = std::size_t{256} * 1024;

struct Value;
struct Member;

struct Nothing {};  // a key without a value
struct Refused {};  // said to be wrong already
using List = std::vector<Value>;
using Map = std::vector<Member>;

/// A value of a YAML document and where it stands.
struct Value {
    Mark at;
    std::variant<Nothing, Refused, std::string, List, Map> content;
};

struct Member {
    std::string key;
    Mark at;
    Value value;
};

/// Parses the little of YAML that a configuration needs: mappings with text as keys, lists and
/// texts. Anchors, aliases, tags, a second document, a key that is there twice, anything that is
/// no printable UTF-8, and what is too large, too deep or too many is a problem. Nothing, where
/// the text cannot be read to its end.
std::optional<Value> parse_document(std::string_view text, Problems& problems);

}  // namespace kubexm::config
