#include "daemon/kube/failures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "daemon/base/json.hpp"
#include "daemon/base/text.hpp"

namespace kubexm::kube {

namespace {

using nlohmann::json;

// A Node, the largest object we read, has a few thousand values in some 100 KiB; managedFields
// nest deepest.
constexpr JsonLimits kLimits{
    .max_bytes = std::size_t{16} * 1024 * 1024, .max_depth = 64, .max_values = 100'000};
constexpr std::size_t kMaxMessage = 512;
constexpr std::size_t kMaxReason = 64;

std::string clipped_at(const json& object, const char* key, std::size_t limit) {
    const auto member = object.is_object() ? object.find(key) : object.end();
    const auto* text = member != object.end() ? member->get_ptr<const std::string*>() : nullptr;
    return text != nullptr ? printable(std::string_view(*text).substr(0, limit)) : "";
}

int code_at(const json& status) {
    const auto code = status.is_object() ? status.find("code") : status.end();
    if (code == status.end() || !code->is_number_integer()) return 0;
    return static_cast<int>(std::clamp<std::int64_t>(code->get<std::int64_t>(), 0, 999));
}

Code code_of(int status, std::string_view reason) {
    if (reason == "Expired" || reason == "Gone") return Code::exhausted;
    switch (status) {
        case 401:
        case 403:
            return Code::denied;
        case 404:
            return Code::not_found;
        case 409:
            return Code::conflict;
        case 410:
            return Code::exhausted;
        case 429:
            return Code::unavailable;
        default:
            return status >= 400 && status < 500 ? Code::invalid : Code::unavailable;
    }
}

Failure failure_of(std::string_view what, int status, const json& said) {
    Failure failure{.status = status, .reason = clipped_at(said, "reason", kMaxReason)};
    const std::string message = clipped_at(said, "message", kMaxMessage);
    failure.error = {code_of(status, failure.reason),
                     fmt::format("{}: the server answered {}: {}", what, status,
                                 message.empty() ? "no message" : message)};
    return failure;
}

}  // namespace

Failure refusal(std::string_view what, int status, std::string_view body,
                std::chrono::seconds retry_after) {
    const auto said = parse_answer(body);
    Failure failure = failure_of(what, status, said ? *said : json());
    failure.retry_after = retry_after;
    return failure;
}

Failure refusal(std::string_view what, const json& status) {
    return failure_of(what, code_at(status), status);
}

Result<json> parse_answer(std::string_view body) { return parse_json(body, kLimits); }

}  // namespace kubexm::kube
