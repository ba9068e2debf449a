#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/base/names.hpp"

// Plain structs to JSON and back. A struct says its members once, in
// `static void fields(auto& self, auto&& visit)`; a variant of such structs is an object with a
// "type" member that holds the alternative's `kType`. Reading is strict: an unknown or missing
// member, a wrong type, an overlong string or list is refused with the place where it stands.

namespace kubexm::codec {

using nlohmann::json;

inline constexpr std::size_t kMaxString = 4096;
inline constexpr std::size_t kMaxList = 256;

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

/// Writes one member; what is empty in an optional is left out.
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

inline std::unexpected<Error> expected_here(const std::string& where, std::string_view what) {
    return fail(Code::invalid, fmt::format("{}: expected {}", where, what));
}

inline Result<> decode(const json& from, std::string& to, const std::string& where) {
    const auto* text = from.get_ptr<const std::string*>();
    if (text == nullptr) return expected_here(where, "a string");
    if (text->size() > kMaxString) {
        return expected_here(where, fmt::format("at most {} bytes", kMaxString));
    }
    if (text->find('\0') != std::string::npos) return expected_here(where, "no NUL byte");
    to = *text;
    return {};
}

inline Result<> decode(const json& from, bool& to, const std::string& where) {
    const auto* value = from.get_ptr<const bool*>();
    if (value == nullptr) return expected_here(where, "true or false");
    to = *value;
    return {};
}

inline Result<> decode(const json& from, std::uint32_t& to, const std::string& where) {
    const auto* value = from.get_ptr<const json::number_unsigned_t*>();
    if (value == nullptr || *value > UINT32_MAX) {
        return expected_here(where, "a whole number of at most 32 bits");
    }
    to = static_cast<std::uint32_t>(*value);
    return {};
}

inline Result<> decode(const json& from, std::int64_t& to, const std::string& where) {
    if (!from.is_number_integer()) return expected_here(where, "a whole number");
    if (from.is_number_unsigned() && from.get<std::uint64_t>() > INT64_MAX) {
        return expected_here(where, "a whole number of at most 63 bits");
    }
    to = from.get<std::int64_t>();
    return {};
}

template <Named Enum>
Result<> decode(const json& from, Enum& to, const std::string& where) {
    std::string known;
    const auto* text = from.get_ptr<const std::string*>();
    for (const auto& [value, name] : Names<Enum>::kAll) {
        if (text != nullptr && *text == name) {
            to = value;
            return {};
        }
        known += (known.empty() ? "" : ", ") + std::string(name);
    }
    return expected_here(where, "one of " + known);
}

template <Struct T>
Result<> decode(const json& from, T& to, const std::string& where);
template <typename... Ts>
Result<> decode(const json& from, std::variant<Ts...>& to, const std::string& where);

template <typename T>
Result<> decode(const json& from, std::vector<T>& to, const std::string& where) {
    if (!from.is_array()) return expected_here(where, "a list");
    if (from.size() > kMaxList) {
        return expected_here(where, fmt::format("at most {} elements", kMaxList));
    }
    to.clear();
    for (const json& item : from) {
        const std::string place = fmt::format("{}[{}]", where, to.size());
        if (auto done = decode(item, to.emplace_back(), place); !done) return done;
    }
    return {};
}

/// Reads one member after the other and remembers the first problem.
struct Reader {
    const json& object;
    const std::string& where;
    Result<>& outcome;
    std::vector<std::string_view>& known;

    std::string place(std::string_view name) const { return fmt::format("{}.{}", where, name); }

    template <typename T>
    void operator()(std::string_view name, T& value) const {
        known.push_back(name);
        if (!outcome) return;
        const auto member = object.find(std::string(name));
        if (member == object.end()) {
            outcome = fail(Code::invalid, place(name) + ": is missing");
        } else {
            outcome = decode(*member, value, place(name));
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

/// `extra` names a member that the caller reads itself.
template <Struct T>
Result<> decode_object(const json& from, T& to, const std::string& where, std::string_view extra) {
    if (!from.is_object()) return expected_here(where, "an object");
    Result<> outcome;
    std::vector<std::string_view> known;
    T::fields(to, Reader{from, where, outcome, known});
    if (!outcome) return outcome;
    if (!extra.empty()) known.push_back(extra);
    return only_known(from, known, where);
}

template <Struct T>
Result<> decode(const json& from, T& to, const std::string& where) {
    return decode_object(from, to, where, "");
}

template <typename... Ts>
Result<> decode(const json& from, std::variant<Ts...>& to, const std::string& where) {
    const auto* type = from.is_object() && from.contains("type")
                           ? from["type"].template get_ptr<const std::string*>()
                           : nullptr;
    if (type == nullptr) return expected_here(where, "an object with a type");
    Result<> outcome =
        fail(Code::invalid, fmt::format("{}.type: {:.64} is not known", where, *type));
    const auto attempt = [&]<typename T>() {
        if (*type != T::kType) return;
        outcome = decode_object(from, to.template emplace<T>(), where, "type");
    };
    (attempt.template operator()<Ts>(), ...);
    return outcome;
}

}  // namespace kubexm::codec
