#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/base/names.hpp"
#include "daemon/base/try.hpp"

// Plain structs to JSON and back. A struct lists its members once, in
// `static void fields(auto& self, auto&& visit)`; a variant of such structs is an object whose
// member "type" is the alternative's `kType`. Reading is strict: a wrong type, an overlong string
// or list and, unless the caller says otherwise, an unknown or missing member is invalid, and the
// message names the place.

namespace kubexm::codec {

using nlohmann::json;

/// Limits for strings and lists; the defaults are for untrusted input.
struct FieldLimits {
    std::size_t string = 4096;  // bytes
    std::size_t list = 256;     // elements
};

/// Whether members may be unknown or missing, as in a file that another version wrote: those that
/// are missing keep their defaults.
enum class Members { exact, any };

/// The current place in a document, for messages, and the limits that hold there.
struct JsonPlace {
    std::string path;
    FieldLimits limits = {};
    Members members = Members::exact;

    JsonPlace below(std::string path_below) const {
        return {std::move(path_below), limits, members};
    }
};

template <typename T>
concept Struct = requires(T& value) { T::fields(value, [](std::string_view, auto&) {}); };

inline json encode(const std::string& value) { return value; }
inline json encode(bool value) { return value; }
inline json encode(std::uint32_t value) { return value; }
inline json encode(std::int64_t value) { return value; }
template <Named Enum>
json encode(Enum value) {
    return std::string(name_of(value));
}
template <Struct T>
json encode(const T& value);
template <typename T>
json encode(const std::vector<T>& list);
template <typename... Ts>
json encode(const std::variant<Ts...>& choice);

/// Writes one member; omits an empty optional.
struct Writer {
    json& object;

    template <typename T>
    void operator()(std::string_view name, const T& value) const {
        object[std::string(name)] = encode(value);
    }
    template <typename T>
    void operator()(std::string_view name, const std::optional<T>& value) const {
        if (value) object[std::string(name)] = encode(*value);
    }
};

template <Struct T>
json encode(const T& value) {
    json object = json::object();
    T::fields(value, Writer{object});
    return object;
}

template <typename T>
json encode(const std::vector<T>& list) {
    json array = json::array();
    for (const T& item : list) array.push_back(encode(item));
    return array;
}

template <typename... Ts>
json encode(const std::variant<Ts...>& choice) {
    return std::visit(
        [](const auto& value) {
            json object = encode(value);
            object["type"] = std::string(value.kType);
            return object;
        },
        choice);
}

/// As encode(), without the members of structs that have their default value: a member that is
/// added later changes nothing where nobody sets it. For hashes that outlive a version.
template <typename T>
json without_defaults(const T& value) {
    return encode(value);
}
template <Struct T>
json without_defaults(const T& value);
template <typename T>
json without_defaults(const std::vector<T>& list);
template <typename... Ts>
json without_defaults(const std::variant<Ts...>& choice);

/// Writes one member unless it has its default value.
struct SparseWriter {
    json& object;
    const json& defaults;

    template <typename T>
    void operator()(std::string_view name, const T& value) const {
        const auto found = defaults.find(std::string(name));
        if (found != defaults.end() && *found == encode(value)) return;
        object[std::string(name)] = without_defaults(value);
    }
    template <typename T>
    void operator()(std::string_view name, const std::optional<T>& value) const {
        if (value) (*this)(name, *value);
    }
};

template <Struct T>
json without_defaults(const T& value) {
    json object = json::object();
    const json defaults = encode(T{});
    T::fields(value, SparseWriter{object, defaults});
    return object;
}

template <typename T>
json without_defaults(const std::vector<T>& list) {
    json array = json::array();
    for (const T& item : list) array.push_back(without_defaults(item));
    return array;
}

template <typename... Ts>
json without_defaults(const std::variant<Ts...>& choice) {
    return std::visit(
        [](const auto& value) {
            json object = without_defaults(value);
            object["type"] = std::string(value.kType);
            return object;
        },
        choice);
}

inline std::unexpected<Error> expected_here(const std::string& where, std::string_view what) {
    return fail(Code::invalid, fmt::format("{}: expected {}", where, what));
}

inline Result<> decode(const json& from, std::string& to, const JsonPlace& where) {
    const auto* text = from.get_ptr<const std::string*>();
    if (text == nullptr) return expected_here(where.path, "a string");
    if (text->size() > where.limits.string) {
        return expected_here(where.path, fmt::format("at most {} bytes", where.limits.string));
    }
    if (text->find('\0') != std::string::npos) return expected_here(where.path, "no NUL byte");
    to = *text;
    return {};
}

inline Result<> decode(const json& from, bool& to, const JsonPlace& where) {
    const auto* value = from.get_ptr<const bool*>();
    if (value == nullptr) return expected_here(where.path, "true or false");
    to = *value;
    return {};
}

inline Result<> decode(const json& from, std::uint32_t& to, const JsonPlace& where) {
    const auto* value = from.get_ptr<const json::number_unsigned_t*>();
    if (value == nullptr || *value > UINT32_MAX) {
        return expected_here(where.path, "a whole number of at most 32 bits");
    }
    to = static_cast<std::uint32_t>(*value);
    return {};
}

inline Result<> decode(const json& from, std::int64_t& to, const JsonPlace& where) {
    if (!from.is_number_integer()) return expected_here(where.path, "a whole number");
    if (from.is_number_unsigned() && from.get<std::uint64_t>() > INT64_MAX) {
        return expected_here(where.path, "a whole number of at most 63 bits");
    }
    to = from.get<std::int64_t>();
    return {};
}

template <Named Enum>
Result<> decode(const json& from, Enum& to, const JsonPlace& where) {
    const auto* text = from.get_ptr<const std::string*>();
    const auto value = text == nullptr ? std::nullopt : from_name<Enum>(*text);
    if (!value) return expected_here(where.path, "one of " + all_names<Enum>());
    to = *value;
    return {};
}

template <Struct T>
Result<> decode(const json& from, T& to, const JsonPlace& where);
template <typename... Ts>
Result<> decode(const json& from, std::variant<Ts...>& to, const JsonPlace& where);

template <typename T>
Result<> decode(const json& from, std::vector<T>& to, const JsonPlace& where) {
    if (!from.is_array()) return expected_here(where.path, "a list");
    if (from.size() > where.limits.list) {
        return expected_here(where.path, fmt::format("at most {} elements", where.limits.list));
    }
    to.clear();
    for (const json& item : from) {
        const JsonPlace place = where.below(fmt::format("{}[{}]", where.path, to.size()));
        TRY(decode(item, to.emplace_back(), place));
    }
    return {};
}

/// Reads the members and keeps the first problem.
struct Reader {
    const json& object;
    const JsonPlace& where;
    Result<>& outcome;
    std::vector<std::string_view>& known;

    JsonPlace place(std::string_view name) const {
        return where.below(fmt::format("{}.{}", where.path, name));
    }

    template <typename T>
    void operator()(std::string_view name, T& value) const {
        known.push_back(name);
        if (!outcome) return;
        const auto member = object.find(std::string(name));
        if (member != object.end()) {
            outcome = decode(*member, value, place(name));
        } else if (where.members == Members::exact) {
            outcome = fail(Code::invalid, place(name).path + ": expected, found none");
        }
    }
    template <typename T>
    void operator()(std::string_view name, std::optional<T>& value) const {
        known.push_back(name);
        const auto member = object.find(std::string(name));
        value.reset();
        if (outcome && member != object.end()) {
            outcome = decode(*member, value.emplace(), place(name));
        }
    }
};

inline Result<> only_known(const json& object, const std::vector<std::string_view>& known,
                           const std::string& where) {
    for (const auto& [name, value] : object.items()) {
        if (std::find(known.begin(), known.end(), name) != known.end()) continue;
        return fail(Code::invalid, fmt::format("{}.{:.64}: is not known; known are {}", where, name,
                                               fmt::join(known, ", ")));
    }
    return {};
}

/// `extra` is a member that the caller reads.
template <Struct T>
Result<> decode_object(const json& from, T& to, const JsonPlace& where, std::string_view extra) {
    if (!from.is_object()) return expected_here(where.path, "an object");
    Result<> outcome;
    std::vector<std::string_view> known;
    T::fields(to, Reader{from, where, outcome, known});
    if (!outcome || where.members == Members::any) return outcome;
    if (!extra.empty()) known.push_back(extra);
    return only_known(from, known, where.path);
}

template <Struct T>
Result<> decode(const json& from, T& to, const JsonPlace& where) {
    return decode_object(from, to, where, "");
}

template <typename... Ts>
Result<> decode(const json& from, std::variant<Ts...>& to, const JsonPlace& where) {
    const auto* type = from.is_object() && from.contains("type")
                           ? from["type"].template get_ptr<const std::string*>()
                           : nullptr;
    if (type == nullptr) return expected_here(where.path, "an object with a type");
    Result<> outcome =
        fail(Code::invalid, fmt::format("{}.type: {:.64} is not known", where.path, *type));
    const auto attempt = [&]<typename T>() {
        if (*type != T::kType) return;
        outcome = decode_object(from, to.template emplace<T>(), where, "type");
    };
    (attempt.template operator()<Ts>(), ...);
    return outcome;
}

}  // namespace kubexm::codec
