#include "daemon/cli/api_client.hpp"

#include <curl/curl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>

#include "daemon/base/json.hpp"
#include "daemon/base/text.hpp"

namespace kubexm::cli {

namespace {

using nlohmann::json;

constexpr long kDeadlineSeconds = 10;
constexpr long kOk = 200;
constexpr long kNotFound = 404;
constexpr JsonLimits kLimits{
    .max_bytes = std::size_t{1024} * 1024, .max_depth = 10, .max_values = 50'000};

using Curl = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;

struct Answer {
    long status = 0;
    std::string body;
};

/// Takes bytes as long as they are not too many; else curl gives up.
std::size_t take(const char* bytes, std::size_t, std::size_t count, void* to) {
    auto& body = *static_cast<std::string*>(to);
    if (body.size() + count > kLimits.max_bytes) return 0;
    body.append(bytes, count);
    return count;
}

std::unexpected<Error> explain(CURL* curl, CURLcode code, const std::string& socket) {
    long number = 0;
    curl_easy_getinfo(curl, CURLINFO_OS_ERRNO, &number);
    if (code == CURLE_COULDNT_CONNECT && (number == EACCES || number == EPERM)) {
        return fail(Code::denied, fmt::format("{} may be asked by root and by the group "
                                              "kubexm-read: use sudo, or join the group",
                                              socket));
    }
    if (code == CURLE_COULDNT_CONNECT) {
        return fail(Code::unavailable,
                    fmt::format("kubexmd does not answer at {}: systemctl start kubexmd", socket));
    }
    return fail(Code::unavailable,
                fmt::format("asking kubexmd at {}: {}; journalctl -u kubexmd may tell more", socket,
                            curl_easy_strerror(code)));
}

Result<Answer> fetch(const std::string& socket, const std::string& path) {
    const Curl curl(curl_easy_init(), &curl_easy_cleanup);
    if (!curl) return fail(Code::exhausted, "no memory for an HTTP client");
    Answer answer;
    const std::string url = "http://localhost" + path;
    curl_easy_setopt(curl.get(), CURLOPT_URL, url.c_str());
    curl_easy_setopt(curl.get(), CURLOPT_UNIX_SOCKET_PATH, socket.c_str());
    curl_easy_setopt(curl.get(), CURLOPT_PROXY, "");  // whatever the environment says
    curl_easy_setopt(curl.get(), CURLOPT_TIMEOUT, kDeadlineSeconds);
    curl_easy_setopt(curl.get(), CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &answer.body);
    if (const auto code = curl_easy_perform(curl.get()); code != CURLE_OK) {
        return explain(curl.get(), code, socket);
    }
    curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &answer.status);
    return answer;
}

/// What a problem+json tells a person.
std::string detail_of(const json& problem) {
    const auto found = problem.is_object() ? problem.find("detail") : problem.end();
    const auto* text = found == problem.end() ? nullptr : found->get_ptr<const json::string_t*>();
    return text == nullptr ? "no reason was given" : printable(*text);
}

}  // namespace

Result<json> ask_api(const std::string& socket, const std::string& path) {
    auto answer = fetch(socket, path);
    if (!answer) return std::unexpected(answer.error());
    auto document = parse_json(answer->body, kLimits);
    if (!document) return during("what kubexmd answered", document.error());
    if (answer->status == kOk) return document;
    const auto code = answer->status == kNotFound ? Code::not_found : Code::internal;
    return fail(code, detail_of(*document));
}

}  // namespace kubexm::cli
