#include "daemon/cli/api_client.hpp"

#include <curl/curl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>

#include "daemon/base/json.hpp"
#include "daemon/base/text.hpp"
#include "daemon/base/try.hpp"

namespace kubexm::cli {

namespace {

using nlohmann::json;

constexpr std::chrono::seconds kReadDeadline{10};
constexpr JsonLimits kLimits{
    .max_bytes = std::size_t{1024} * 1024, .max_depth = 10, .max_values = 50'000};

using Curl = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;

struct HttpAnswer {
    long status = 0;
    std::string body;
};

/// Returning 0 makes curl fail.
std::size_t append_bounded(const char* bytes, std::size_t, std::size_t count, void* to) {
    auto& body = *static_cast<std::string*>(to);
    if (body.size() + count > kLimits.max_bytes) return 0;
    body.append(bytes, count);
    return count;
}

// Next steps for a person whose socket does not answer.
constexpr const char* kReading =
    "only root and group kubexm-read have access; use sudo, or join the group";
constexpr const char* kControl = "only root has access; use sudo";
// Not start: a restart also starts the sockets, which kubexmd works without.
constexpr const char* kDown = "kubexmd does not listen; run systemctl restart kubexmd";
constexpr const char* kSilentCommand =
    "; try again or see journalctl -u kubexmd. The command may still take effect";
constexpr const char* kSilent = "; see journalctl -u kubexmd";

/// A request to one of the sockets; a body makes it a POST.
struct HttpRequest {
    std::string path;
    std::string body;
    std::chrono::seconds deadline;
    bool is_command() const { return !body.empty(); }
};

std::unexpected<Error> explain(CURL* curl, CURLcode code, const std::string& socket,
                               const HttpRequest& request) {
    long number = 0;
    curl_easy_getinfo(curl, CURLINFO_OS_ERRNO, &number);
    if (code == CURLE_COULDNT_CONNECT && (number == EACCES || number == EPERM)) {
        return fail(Code::denied,
                    fmt::format("{}: {}", socket, request.is_command() ? kControl : kReading));
    }
    if (code == CURLE_COULDNT_CONNECT) {
        return fail(Code::unavailable, fmt::format("{}: {}", socket, kDown));
    }
    const std::string what =
        code == CURLE_OPERATION_TIMEDOUT
            ? "kubexmd does not answer"
            : fmt::format("no valid answer from kubexmd: {}", curl_easy_strerror(code));
    return fail(Code::timeout, fmt::format("{}: {}{}", socket, what,
                                           request.is_command() ? kSilentCommand : kSilent));
}

Result<HttpAnswer> fetch(const std::string& socket, const HttpRequest& request) {
    const Curl curl(curl_easy_init(), &curl_easy_cleanup);
    if (!curl) return fail(Code::exhausted, "curl: out of memory");
    HttpAnswer answer;
    const std::string url = "http://localhost" + request.path;
    curl_easy_setopt(curl.get(), CURLOPT_URL, url.c_str());
    curl_easy_setopt(curl.get(), CURLOPT_UNIX_SOCKET_PATH, socket.c_str());
    curl_easy_setopt(curl.get(), CURLOPT_PROXY, "");  // not that of the environment
    curl_easy_setopt(curl.get(), CURLOPT_TIMEOUT, static_cast<long>(request.deadline.count()));
    curl_easy_setopt(curl.get(), CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, append_bounded);
    curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &answer.body);
    if (request.is_command()) {
        curl_easy_setopt(curl.get(), CURLOPT_POSTFIELDS, request.body.c_str());
    }
    if (const auto code = curl_easy_perform(curl.get()); code != CURLE_OK) {
        return explain(curl.get(), code, socket, request);
    }
    curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &answer.status);
    return answer;
}

Code code_of_status(long status) {
    switch (status) {
        case 400:
            return Code::invalid;
        case 403:
            return Code::denied;
        case 404:
            return Code::not_found;
        case 409:
            return Code::conflict;
        case 503:
            return Code::timeout;
        default:
            return Code::internal;
    }
}

std::string detail_of(const json& problem) {
    const auto found = problem.is_object() ? problem.find("detail") : problem.end();
    const auto* text = found == problem.end() ? nullptr : found->get_ptr<const json::string_t*>();
    return text == nullptr ? "kubexmd gave no reason" : printable(*text);
}

Result<json> document_of(const HttpAnswer& answer) {
    auto document = parse_json(answer.body, kLimits);
    if (!document) return fail(Code::timeout, "answer of kubexmd: " + document.error().what);
    if (answer.status == 200 || answer.status == 202) return document;
    return fail(code_of_status(answer.status), detail_of(*document));
}

}  // namespace

Result<json> ask_api(const std::string& socket, const std::string& path) {
    const HttpAnswer answer = TRY(fetch(socket, {path, "", kReadDeadline}));
    return document_of(answer);
}

Result<json> post_api(const std::string& socket, const std::string& path, const std::string& body,
                      std::chrono::seconds patience) {
    const HttpAnswer answer = TRY(fetch(socket, {path, body, patience}));
    return document_of(answer);
}

}  // namespace kubexm::cli
