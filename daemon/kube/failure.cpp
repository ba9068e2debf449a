#include "daemon/kube/failure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "daemon/base/json.hpp"
#include "daemon/base/text.hpp"
#include "daemon/kube/fields.hpp"

namespace kubexm::kube {

namespace {

using nlohmann::json;

// A Node, the largest object we read, has a few thousand values in some 100 KiB; managedFields
// nest deepest.
constexpr JsonLimits kLimits{
    .max_bytes = std::size_t{16} * 1024 * 1024, .max_depth = 64, .max_values = 100'000};
constexpr std::size_t kMaxMessage = 512;
constexpr std::size_t kMaxReason = 64;

std::string shortened_at(const json& object, const char* key, std::size_t limit) {
    return printable(bounded_utf8(text_at(object, {key}), limit));
}

int code_at(const json& status) {
    const json& code = at(status, {"code"});
    if (!code.is_number_integer()) return 0;
    return static_cast<int>(std::clamp<std::int64_t>(code.get<std::int64_t>(), 0, 999));
}

Code code_of(int status, std::string_view reason) {
    if (reason == "Expired" || reason == "Gone") return Code::exhausted;
    switch (status) {
        case HttpStatus::unauthorized:
        case HttpStatus::forbidden:
            return Code::denied;
        case HttpStatus::not_found:
            return Code::not_found;
        case HttpStatus::conflict:
            return Code::conflict;
        case HttpStatus::gone:
            return Code::exhausted;
        case HttpStatus::too_many_requests:
            return Code::unavailable;
        default: {
            const bool is_ours =
                status >= HttpStatus::bad_request && status < HttpStatus::internal_error;
            return is_ours ? Code::invalid : Code::unavailable;
        }
    }
}

Failure make_failure(std::string_view request, int status, const json& object) {
    Failure failure{.status = status, .reason = shortened_at(object, "reason", kMaxReason)};
    const std::string message = shortened_at(object, "message", kMaxMessage);
    failure.error = {code_of(status, failure.reason),
                     fmt::format("{}: the server answered {}: {}", request, status,
                                 message.empty() ? "no message" : message)};
    return failure;
}

}  // namespace

Failure failure_of(std::string_view request, int status, std::string_view body,
                   std::chrono::seconds retry_after) {
    const auto object = parse_response(body);
    Failure failure = make_failure(request, status, object ? *object : json());
    failure.retry_after = retry_after;
    return failure;
}

Failure failure_of(std::string_view request, const json& status) {
    return make_failure(request, code_at(status), status);
}

Result<json> parse_response(std::string_view body) { return parse_json(body, kLimits); }

}  // namespace kubexm::kube
