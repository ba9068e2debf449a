#pragma once

#include <array>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

#include "daemon/base/names.hpp"

namespace kubexm {

/// How the caller should react to an error.
enum class Code {
    invalid,      // the input is wrong: do not retry until it changes
    not_found,    // there is no such object
    conflict,     // the object changed: read again, decide again
    denied,       // not permitted: an operator has to permit it
    unavailable,  // the peer does not respond: retry later
    timeout,      // the deadline passed: retry later
    exhausted,    // no space, no memory, too many: retry later
    corrupt,      // stored data is damaged: an operator has to decide
    cancelled,    // stopped on request
    internal,     // a bug
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

/// `what` names the object, the expectation, the finding and the next step.
struct Error {
    Code code = Code::internal;
    std::string what;

    bool operator==(const Error&) const = default;
};

template <typename T = void>
using Result = std::expected<T, Error>;

std::unexpected<Error> fail(Code code, std::string what);

/// The same error with context in front: "reading /etc/x: permission denied".
std::unexpected<Error> during(std::string_view doing, const Error& error);

Code code_of_errno(int number);

/// An errno with its call and object: "open /etc/x: Permission denied".
std::unexpected<Error> from_errno(std::string_view call, std::string_view object, int number);
std::unexpected<Error> from_errno(std::string_view call, std::string_view object);

}  // namespace kubexm
