#include "daemon/executor/host/grpc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "daemon/base/text.hpp"
#include "daemon/executor/host/http2.hpp"

// https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md

namespace kubexm::executor::grpc {

namespace {

constexpr std::size_t kPrefix = 5;
constexpr std::size_t kMaxText = 512;

Code code_of(std::string_view status) {
    constexpr std::array<std::pair<std::string_view, Code>, 7> kCodes{{
        {"3", Code::invalid},
        {"4", Code::timeout},
        {"5", Code::not_found},
        {"6", Code::conflict},
        {"7", Code::denied},
        {"8", Code::exhausted},
        {"12", Code::not_found},  // unimplemented: the server has no such service
    }};
    const auto* found =
        std::ranges::find(kCodes, status, &std::pair<std::string_view, Code>::first);
    return found == kCodes.end() ? Code::unavailable : found->second;
}

/// A printable header or trailer; empty: absent.
std::string header_text(const http2::PostAnswer& answer, std::string_view name) {
    const auto found = answer.headers.find(name);
    if (found == answer.headers.end()) return {};
    return printable(std::string_view(found->second).substr(0, kMaxText));
}

Result<> check_status(const http2::PostAnswer& answer) {
    const std::string status = header_text(answer, "grpc-status");
    if (status == "0") return {};
    if (status.empty()) return fail(Code::unavailable, "the answer has no gRPC status");
    return fail(code_of(status),
                fmt::format("{} (gRPC status {})", header_text(answer, "grpc-message"), status));
}

http2::PostRequest request_for(const std::string& method, std::string_view message,
                               const std::vector<http2::HeaderField>& metadata) {
    http2::PostRequest request{
        .path = "/" + method,
        .headers = {{"content-type", "application/grpc"}, {"te", "trailers"}},
        .body = framed(message)};
    request.headers.insert(request.headers.end(), metadata.begin(), metadata.end());
    return request;
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
        return fail(Code::invalid, "gRPC answer: expected one uncompressed message");
    }
    return std::string(body.substr(kPrefix));
}

std::vector<Result<std::string>> call_all(const std::string& socket, const std::string& method,
                                          std::span<const std::string> messages, Deadline deadline,
                                          const std::vector<http2::HeaderField>& metadata) {
    std::vector<http2::PostRequest> requests;
    requests.reserve(messages.size());
    for (const std::string& message : messages) {
        requests.push_back(request_for(method, message, metadata));
    }
    std::vector<Result<std::string>> replies;
    replies.reserve(messages.size());
    for (const auto& answer : http2::post_all(socket, requests, deadline)) {
        const auto done = answer ? check_status(*answer) : std::unexpected(answer.error());
        replies.push_back(done ? unframed(answer->body)
                               : during(fmt::format("{} at {}", method, socket), done.error()));
    }
    return replies;
}

Result<std::string> call(const std::string& socket, const std::string& method,
                         const std::string& message, Deadline deadline,
                         const std::vector<http2::HeaderField>& metadata) {
    return call_all(socket, method, {&message, 1}, deadline, metadata).front();
}

}  // namespace kubexm::executor::grpc
