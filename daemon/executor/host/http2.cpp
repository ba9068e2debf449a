#include "daemon/executor/host/http2.hpp"

#include <fmt/format.h>
#include <nghttp2/nghttp2.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <span>

#include "daemon/base/try.hpp"
#include "daemon/executor/host/unix_stream.hpp"

// https://www.rfc-editor.org/rfc/rfc9113 and https://nghttp2.org/documentation/

namespace kubexm::executor::http2 {

namespace {

constexpr std::size_t kMaxBytes = std::size_t{17} << 20U;    // containerd: 16 MiB, and frames
constexpr std::size_t kMaxHeaders = std::size_t{64} << 10U;  // of all, with interim answers
constexpr std::size_t kHeaderOverhead = 32;                  // of a header, as in the RFC

struct Release {
    void operator()(nghttp2_session* session) const { ::nghttp2_session_del(session); }
    void operator()(nghttp2_session_callbacks* all) const { ::nghttp2_session_callbacks_del(all); }
};
using Session = std::unique_ptr<nghttp2_session, Release>;
using Callbacks = std::unique_ptr<nghttp2_session_callbacks, Release>;

struct Exchange {
    Fd stream;
    std::string_view unsent;  // of the body
    Answer answer;
    std::size_t bytes = 0;         // received
    std::size_t header_bytes = 0;  // received, decompressed
    bool closed = false;           // the stream of the request
    Result<> outcome;
};

Exchange& exchange_of(void* user) { return *static_cast<Exchange*>(user); }

ssize_t on_send(nghttp2_session*, const std::uint8_t* data, std::size_t size, int, void* user) {
    Exchange& exchange = exchange_of(user);
    const ssize_t sent = ::send(exchange.stream.get(), data, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent >= 0) return sent;
    if (errno == EAGAIN) return NGHTTP2_ERR_WOULDBLOCK;
    // A server that no longer reads may have answered before: receive() reports it.
    if (errno == EPIPE || errno == ECONNRESET) return static_cast<ssize_t>(size);
    exchange.outcome = from_errno("send", "an HTTP/2 request");
    return NGHTTP2_ERR_CALLBACK_FAILURE;
}

ssize_t on_body_wanted(nghttp2_session*, std::int32_t, std::uint8_t* place, std::size_t size,
                       std::uint32_t* flags, nghttp2_data_source*, void* user) {
    std::string_view& unsent = exchange_of(user).unsent;
    const std::size_t count = std::min(size, unsent.size());
    std::ranges::copy(unsent.substr(0, count), place);
    unsent.remove_prefix(count);
    if (unsent.empty()) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(count);
}

int on_header(nghttp2_session*, const nghttp2_frame*, const std::uint8_t* name,
              std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
              std::uint8_t, void* user) {
    Exchange& exchange = exchange_of(user);
    exchange.header_bytes += name_size + value_size + kHeaderOverhead;
    if (exchange.header_bytes > kMaxHeaders) {
        exchange.outcome =
            fail(Code::unavailable,
                 fmt::format("answer headers: expected at most {} bytes", kMaxHeaders));
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
    exchange.answer.headers.insert_or_assign(std::string(name, name + name_size),
                                             std::string(value, value + value_size));
    return 0;
}

int on_body(nghttp2_session*, std::uint8_t, std::int32_t, const std::uint8_t* data,
            std::size_t size, void* user) {
    exchange_of(user).answer.body.append(data, data + size);
    return 0;
}

int on_close(nghttp2_session*, std::int32_t, std::uint32_t code, void* user) {
    Exchange& exchange = exchange_of(user);
    exchange.closed = true;
    if (code == NGHTTP2_NO_ERROR) return 0;
    const char* reason = ::nghttp2_http2_strerror(code);
    exchange.outcome =
        fail(Code::unavailable, fmt::format("the HTTP/2 stream ended with {}", reason));
    return 0;
}

Session session_for(Exchange& exchange) {
    nghttp2_session_callbacks* made = nullptr;
    if (::nghttp2_session_callbacks_new(&made) != 0) return nullptr;
    const Callbacks callbacks(made);
    ::nghttp2_session_callbacks_set_send_callback(made, on_send);
    ::nghttp2_session_callbacks_set_on_header_callback(made, on_header);
    ::nghttp2_session_callbacks_set_on_data_chunk_recv_callback(made, on_body);
    ::nghttp2_session_callbacks_set_on_stream_close_callback(made, on_close);
    nghttp2_session* session = nullptr;
    ::nghttp2_session_client_new(&session, made, &exchange);
    return Session(session);
}

nghttp2_nv field(const Header& header) {
    const auto bytes = [](std::string_view text) {  // nghttp2 copies and does not write
        return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
    };
    return {.name = bytes(header.name),
            .value = bytes(header.value),
            .namelen = header.name.size(),
            .valuelen = header.value.size(),
            .flags = NGHTTP2_NV_FLAG_NONE};
}

Result<> submit(nghttp2_session* session, const Request& request) {
    const nghttp2_settings_entry no_push{.settings_id = NGHTTP2_SETTINGS_ENABLE_PUSH, .value = 0};
    std::vector<nghttp2_nv> fields{field({":method", "POST"}), field({":scheme", "http"}),
                                   field({":authority", "localhost"}),
                                   field({":path", request.path})};
    std::ranges::transform(request.headers, std::back_inserter(fields), field);
    const nghttp2_data_provider body{.source = {}, .read_callback = on_body_wanted};
    const bool done = ::nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, &no_push, 1) == 0 &&
                      ::nghttp2_submit_request(session, nullptr, fields.data(), fields.size(),
                                               &body, nullptr) > 0;
    if (!done) return fail(Code::exhausted, "no memory for an HTTP/2 request");
    return {};
}

/// Receives one chunk: the caller checks the deadline after each.
Result<> receive(nghttp2_session* session, Exchange& exchange) {
    std::array<std::uint8_t, std::size_t{16} << 10U> chunk{};
    const ssize_t size = ::recv(exchange.stream.get(), chunk.data(), chunk.size(), MSG_DONTWAIT);
    if (size < 0 && errno == EAGAIN) return {};
    if (size <= 0) {
        return fail(Code::unavailable,
                    "the server closed the connection before the end of its answer");
    }
    const auto count = static_cast<std::size_t>(size);
    exchange.bytes += count;
    if (exchange.bytes > kMaxBytes) {
        return fail(Code::unavailable, fmt::format("answer: expected at most {} bytes", kMaxBytes));
    }
    const auto taken = ::nghttp2_session_mem_recv(session, chunk.data(), count);
    if (!exchange.outcome || taken >= 0) return exchange.outcome;
    return fail(Code::unavailable, ::nghttp2_strerror(static_cast<int>(taken)));
}

Result<> send(nghttp2_session* session, const Exchange& exchange) {
    const int sent = ::nghttp2_session_send(session);
    if (!exchange.outcome || sent == 0) return exchange.outcome;
    return fail(Code::unavailable, ::nghttp2_strerror(sent));
}

Result<> run(nghttp2_session* session, Exchange& exchange, Deadline deadline) {
    while (!exchange.closed) {
        TRY(send(session, exchange));
        // nghttp2 stops reading after a violation of the protocol.
        if (::nghttp2_session_want_read(session) == 0) break;
        const bool more = ::nghttp2_session_want_write(session) != 0;
        const short events = more ? POLLIN | POLLOUT : POLLIN;
        TRY(wait_for(exchange.stream, events, deadline));
        TRY(receive(session, exchange));
    }
    if (!exchange.closed) return fail(Code::unavailable, "the answer is not HTTP/2");
    return exchange.outcome;
}

}  // namespace

Result<Answer> post(const std::string& socket, const Request& request, Deadline deadline) {
    Exchange exchange;
    exchange.stream = TRY(connect_stream(socket, deadline));
    exchange.unsent = request.body;
    const Session session = session_for(exchange);
    if (!session) return fail(Code::exhausted, "no memory for an HTTP/2 session");
    TRY(submit(session.get(), request));
    TRY(run(session.get(), exchange, deadline));
    return std::move(exchange.answer);
}

}  // namespace kubexm::executor::http2
