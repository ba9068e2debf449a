#include "daemon/hands/host/grpc.hpp"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <utility>

#include "daemon/base/text.hpp"

// https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md

namespace kubexm::hands::grpc {

namespace {

constexpr std::size_t kPrefix = 5;
constexpr std::size_t kMostBody = std::size_t{16} << 20U;  // containerd's own limit
constexpr std::size_t kMostText = 512;

struct Release {
    void operator()(CURL* handle) const { ::curl_easy_cleanup(handle); }
    void operator()(curl_slist* list) const { ::curl_slist_free_all(list); }
};
using Handle = std::unique_ptr<CURL, Release>;
using Headers = std::unique_ptr<curl_slist, Release>;

struct Answer {
    std::string body;
    std::string status;   // of gRPC, a number; none: the other side broke off
    std::string message;  // why, in its words
};

std::size_t on_body(char* data, std::size_t, std::size_t size, void* answer) {
    auto& body = static_cast<Answer*>(answer)->body;
    if (body.size() + size > kMostBody) return 0;  // ends the transfer
    body.append(data, size);
    return size;
}

/// Trailers come here as well.
std::size_t on_header(char* data, std::size_t, std::size_t size, void* answer) {
    const std::string_view line(data, size);
    auto& [body, status, message] = *static_cast<Answer*>(answer);
    if (const auto value = value_of(line, "grpc-status"); !value.empty()) status = value;
    if (const auto value = value_of(line, "grpc-message"); !value.empty()) {
        message = printable(value.substr(0, kMostText));
    }
    return size;
}

long milliseconds_left(Deadline deadline) {
    const auto left = deadline - std::chrono::steady_clock::now();
    const auto count = std::chrono::duration_cast<std::chrono::milliseconds>(left).count();
    return std::max<long>(1, count);  // 0 would mean for ever
}

Headers headers() {
    Headers list;
    for (const char* line : {"Content-Type: application/grpc", "TE: trailers", "Expect:"}) {
        if (curl_slist* longer = ::curl_slist_append(list.get(), line)) {
            std::ignore = list.release();
            list.reset(longer);
        }
    }
    return list;
}

/// What to do about it, by the numbers of gRPC.
Code code_of(std::string_view status) {
    constexpr std::array<std::pair<std::string_view, Code>, 6> kCodes{{
        {"3", Code::invalid},
        {"4", Code::timeout},
        {"5", Code::not_found},
        {"7", Code::denied},
        {"8", Code::exhausted},
        {"12", Code::not_found},  // it listens, and does not know the service
    }};
    const auto* found =
        std::ranges::find(kCodes, status, &std::pair<std::string_view, Code>::first);
    return found == kCodes.end() ? Code::unavailable : found->second;
}

Result<> outcome(CURL* handle, CURLcode code) {
    if (code == CURLE_OK) return {};
    long number = 0;
    ::curl_easy_getinfo(handle, CURLINFO_OS_ERRNO, &number);
    const bool nobody =
        code == CURLE_COULDNT_CONNECT && (number == ENOENT || number == ECONNREFUSED);
    if (nobody) return fail(Code::not_found, "nobody listens there");
    const Code kind = code == CURLE_OPERATION_TIMEDOUT ? Code::timeout : Code::unavailable;
    return fail(kind, ::curl_easy_strerror(code));
}

Result<Answer> exchange(CURL* handle, Answer answer) {
    ::curl_easy_setopt(handle, CURLOPT_WRITEDATA, &answer);
    ::curl_easy_setopt(handle, CURLOPT_HEADERDATA, &answer);
    auto done = outcome(handle, ::curl_easy_perform(handle));
    if (!done) return std::unexpected(done.error());
    if (answer.status == "0") return answer;
    if (answer.status.empty()) return fail(Code::unavailable, "it broke off, or is not gRPC");
    return fail(code_of(answer.status), fmt::format("{} (gRPC status {})", answer.message,
                                                    printable(answer.status.substr(0, 8))));
}

}  // namespace

std::string framed(std::string_view message) {
    std::string frame(1, '\0');  // not compressed
    for (const unsigned shift : {24U, 16U, 8U, 0U}) {
        frame += static_cast<char>((message.size() >> shift) & 0xffU);
    }
    return frame.append(message);
}

Result<std::string> unframed(std::string_view body) {
    if (body.size() < kPrefix || framed(body.substr(kPrefix)) != body) {
        return fail(Code::invalid, "the answer is not one plain message of gRPC");
    }
    return std::string(body.substr(kPrefix));
}

std::string_view value_of(std::string_view line, std::string_view name) {
    if (!line.starts_with(name) || !line.substr(name.size()).starts_with(':')) return {};
    line.remove_prefix(name.size() + 1);
    const auto first = line.find_first_not_of(" \t");
    const auto last = line.find_last_not_of(" \t\r\n");
    return first == std::string_view::npos ? "" : line.substr(first, last - first + 1);
}

Result<std::string> call(const std::string& socket, const std::string& method,
                         std::string_view message, Deadline deadline) {
    const Handle handle(::curl_easy_init());
    const Headers list = headers();
    if (!handle || !list) return fail(Code::exhausted, "no memory for a request");
    const std::string body = framed(message);
    const std::string url = "http://localhost/" + method;
    ::curl_easy_setopt(handle.get(), CURLOPT_URL, url.c_str());
    ::curl_easy_setopt(handle.get(), CURLOPT_UNIX_SOCKET_PATH, socket.c_str());
    ::curl_easy_setopt(handle.get(), CURLOPT_HTTP_VERSION,
                       static_cast<long>(CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE));
    ::curl_easy_setopt(handle.get(), CURLOPT_PROXY, "");
    ::curl_easy_setopt(handle.get(), CURLOPT_NOSIGNAL, 1L);
    ::curl_easy_setopt(handle.get(), CURLOPT_TIMEOUT_MS, milliseconds_left(deadline));
    ::curl_easy_setopt(handle.get(), CURLOPT_HTTPHEADER, list.get());
    ::curl_easy_setopt(handle.get(), CURLOPT_POSTFIELDSIZE, static_cast<long>(body.size()));
    ::curl_easy_setopt(handle.get(), CURLOPT_POSTFIELDS, body.data());
    ::curl_easy_setopt(handle.get(), CURLOPT_WRITEFUNCTION, on_body);
    ::curl_easy_setopt(handle.get(), CURLOPT_HEADERFUNCTION, on_header);
    auto answer = exchange(handle.get(), {});
    if (!answer) return during(fmt::format("{} at {}", method, socket), answer.error());
    return unframed(answer->body);
}

}  // namespace kubexm::hands::grpc
