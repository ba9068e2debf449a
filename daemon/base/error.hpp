#pragma once

#include <array>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

#include "daemon/base/names.hpp"

namespace kubexm {

/// What the caller should do about an error, rather than what went wrong in detail.
enum class Code {
    invalid,      // the input is wrong: do not retry until it changes
    not_found,    // the named object is not there
    conflict,     // somebody changed it first: read again, decide again
    denied,       // not allowed: a person has to allow it
    unavailable,  // the other side does not answer: retry later
    timeout,      // the deadline passed: retry later
    exhausted,    // no space, no memory, too many: retry when there is room
    corrupt,      // stored data is damaged: a person has to decide
    cancelled,    // somebody asked to stop
    internal,     // our own mistake
};

template <>
struct Names<Code> {
    static constexpr std::array<std::pair<Code, std::string_view>, 10> kAll{{
        {Code::invalid, "invalid"},
        {Code::not_found, "not_found"},
        {Code::conflict, "conflict"},
        {Code::denied, "denied"},
        {Code::unavailable, "unavailable"},
        {Code::timeout, "timeout"},
        {Code::exhausted, "exhausted"},
        {Code::corrupt, "corrupt"},
        {Code::cancelled, "cancelled"},
        {Code::internal, "internal"},
    }};
};

/// `what` is for a person: the object, what was expected, what was found, what to try.
struct Error {
    Code code = Code::internal;
    std::string what;

    bool operator==(const Error&) const = default;
};

template <typename T = void>
using Result = std::expected<T, Error>;

std::unexpected<Error> fail(Code code, std::string what);

/// The same error with what we were doing in front: "reading /etc/x: permission denied".
std::unexpected<Error> during(std::string_view doing, const Error& error);

/// An errno with the call and the object it happened to.
std::unexpected<Error> from_errno(std::string_view call, std::string_view object, int number);
std::unexpected<Error> from_errno(std::string_view call, std::string_view object);

}  // namespace kubexm
