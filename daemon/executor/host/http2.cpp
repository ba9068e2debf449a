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

struct Free {
    void operator()(nghttp2_session* session) const { ::nghttp2_session_del(session); }
    void operator()(nghttp2_session_callbacks* all) const { ::nghttp2_session_callbacks_del(all); }
};
using Session = std::unique_ptr<nghttp2_session, Free>;
using Callbacks = std::unique_ptr<nghttp2_session_callbacks, Free>;

/// A request and its answer.
struct Exchange {
    std::string_view unsent;  // of the body
    PostAnswer answer;
    std::size_t header_bytes = 0;  // received, decompressed
    bool closed = false;
    Result<> outcome;
};

struct Connection {
    Fd stream;
    std::vector<Exchange> exchanges;
    std::size_t open = 0;   // exchanges
    std::size_t bytes = 0;  // received
    Result<> outcome;
};

Connection& connection_of(void* user) { return *static_cast<Connection*>(user); }

Exchange* exchange_of(nghttp2_session* session, std::int32_t stream) {
    return static_cast<Exchange*>(::nghttp2_session_get_stream_user_data(session, stream));
}

ssize_t on_send(nghttp2_session*, const std::uint8_t* data, std::size_t size, int, void* user) {
    Connection& connection = connection_of(user);
    const ssize_t sent = ::send(connection.stream.get(), data, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent >= 0) return sent;
    if (errno == EAGAIN) return NGHTTP2_ERR_WOULDBLOCK;
    // A server that no longer reads may have answered before: receive() reports it.
    if (errno == EPIPE || errno == ECONNRESET) return static_cast<ssize_t>(size);
    connection.outcome = from_errno("send", "an HTTP/2 request");
    return NGHTTP2_ERR_CALLBACK_FAILURE;
}

ssize_t on_body_wanted(nghttp2_session*, std::int32_t, std::uint8_t* place, std::size_t size,
                       std::uint32_t* flags, nghttp2_data_source* source, void*) {
    std::string_view& unsent = static_cast<Exchange*>(source->ptr)->unsent;
    const std::size_t count = std::min(size, unsent.size());
    std::ranges::copy(unsent.substr(0, count), place);
    unsent.remove_prefix(count);
    if (unsent.empty()) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(count);
}

int on_header(nghttp2_session* session, const nghttp2_frame* frame, const std::uint8_t* name,
              std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
              std::uint8_t, void* user) {
    Exchange* exchange = exchange_of(session, frame->hd.stream_id);
    if (exchange == nullptr) return 0;
    exchange->header_bytes += name_size + value_size + kHeaderOverhead;
    if (exchange->header_bytes > kMaxHeaders) {
        connection_of(user).outcome =
            fail(Code::unavailable,
                 fmt::format("answer headers: expected at most {} bytes", kMaxHeaders));
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
    exchange->answer.headers.insert_or_assign(std::string(name, name + name_size),
                                              std::string(value, value + value_size));
    return 0;
}

int on_body(nghttp2_session* session, std::uint8_t, std::int32_t stream, const std::uint8_t* data,
            std::size_t size, void*) {
    Exchange* exchange = exchange_of(session, stream);
    if (exchange != nullptr) exchange->answer.body.append(data, data + size);
    return 0;
}

int on_close(nghttp2_session* session, std::int32_t stream, std::uint32_t code, void* user) {
    Exchange* exchange = exchange_of(session, stream);
    if (exchange == nullptr) return 0;
    exchange->closed = true;
    --connection_of(user).open;
    if (code == NGHTTP2_NO_ERROR) return 0;
    const char* reason = ::nghttp2_http2_strerror(code);
    exchange->outcome =
        fail(Code::unavailable, fmt::format("the HTTP/2 stream ended with {}", reason));
    return 0;
}

Session session_for(Connection& connection) {
    nghttp2_session_callbacks* made = nullptr;
    if (::nghttp2_session_callbacks_new(&made) != 0) return nullptr;
    const Callbacks callbacks(made);
    ::nghttp2_session_callbacks_set_send_callback(made, on_send);
    ::nghttp2_session_callbacks_set_on_header_callback(made, on_header);
    ::nghttp2_session_callbacks_set_on_data_chunk_recv_callback(made, on_body);
    ::nghttp2_session_callbacks_set_on_stream_close_callback(made, on_close);
    nghttp2_session* session = nullptr;
    ::nghttp2_session_client_new(&session, made, &connection);
    return Session(session);
}

nghttp2_nv field(const HeaderField& header) {
    const auto bytes = [](std::string_view text) {  // nghttp2 copies and does not write
        return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
    };
    return {.name = bytes(header.name),
            .value = bytes(header.value),
            .namelen = header.name.size(),
            .valuelen = header.value.size(),
            .flags = NGHTTP2_NV_FLAG_NONE};
}

Result<> no_memory() { return fail(Code::exhausted, "no memory for HTTP/2 requests"); }

Result<> submit(nghttp2_session* session, const PostRequest& request, Exchange& exchange) {
    exchange.unsent = request.body;
    std::vector<nghttp2_nv> fields{field({":method", "POST"}), field({":scheme", "http"}),
                                   field({":authority", "localhost"}),
                                   field({":path", request.path})};
    std::ranges::transform(request.headers, std::back_inserter(fields), field);
    const nghttp2_data_provider body{.source = {.ptr = &exchange}, .read_callback = on_body_wanted};
    const auto stream =
        ::nghttp2_submit_request(session, nullptr, fields.data(), fields.size(), &body, &exchange);
    return stream > 0 ? Result<>() : no_memory();
}

Result<> submit_all(nghttp2_session* session, std::span<const PostRequest> requests,
                    Connection& connection) {
    const nghttp2_settings_entry no_push{.settings_id = NGHTTP2_SETTINGS_ENABLE_PUSH, .value = 0};
    if (::nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, &no_push, 1) != 0) return no_memory();
    for (std::size_t i = 0; i < requests.size(); ++i) {
        TRY(submit(session, requests[i], connection.exchanges[i]));
    }
    return {};
}

/// Receives one chunk: the caller checks the deadline after each.
Result<> receive(nghttp2_session* session, Connection& connection) {
    std::array<std::uint8_t, std::size_t{16} << 10U> chunk{};
    const ssize_t size = ::recv(connection.stream.get(), chunk.data(), chunk.size(), MSG_DONTWAIT);
    if (size < 0 && errno == EAGAIN) return {};
    if (size <= 0) {
        return fail(Code::unavailable,
                    "the server closed the connection before the end of its answer");
    }
    const auto count = static_cast<std::size_t>(size);
    connection.bytes += count;
    if (connection.bytes > kMaxBytes) {
        return fail(Code::unavailable, fmt::format("answer: expected at most {} bytes", kMaxBytes));
    }
    const auto taken = ::nghttp2_session_mem_recv(session, chunk.data(), count);
    if (!connection.outcome || taken >= 0) return connection.outcome;
    return fail(Code::unavailable, ::nghttp2_strerror(static_cast<int>(taken)));
}

Result<> send(nghttp2_session* session, const Connection& connection) {
    const int sent = ::nghttp2_session_send(session);
    if (!connection.outcome || sent == 0) return connection.outcome;
    return fail(Code::unavailable, ::nghttp2_strerror(sent));
}

Result<> run(nghttp2_session* session, Connection& connection, Deadline deadline) {
    while (connection.open > 0) {
        TRY(send(session, connection));
        if (connection.open == 0) return {};  // the last stream was reset
        // nghttp2 stops reading after a violation of the protocol.
        if (::nghttp2_session_want_read(session) == 0) break;
        const bool more = ::nghttp2_session_want_write(session) != 0;
        const short events = more ? POLLIN | POLLOUT : POLLIN;
        TRY(wait_for(connection.stream, events, deadline));
        TRY(receive(session, connection));
    }
    if (connection.open > 0) return fail(Code::unavailable, "the answer is not HTTP/2");
    return {};
}

Result<> exchange_all(const std::string& socket, std::span<const PostRequest> requests,
                      Connection& connection, Deadline deadline) {
    connection.stream = TRY(connect_stream(socket, deadline));
    const Session session = session_for(connection);
    if (!session) return no_memory();
    TRY(submit_all(session.get(), requests, connection));
    return run(session.get(), connection, deadline);
}

}  // namespace

std::vector<Result<PostAnswer>> post_all(const std::string& socket,
                                         std::span<const PostRequest> requests, Deadline deadline) {
    Connection connection;
    connection.exchanges.resize(requests.size());
    connection.open = requests.size();
    const auto done = exchange_all(socket, requests, connection, deadline);
    std::vector<Result<PostAnswer>> answers;
    answers.reserve(requests.size());
    for (Exchange& each : connection.exchanges) {
        const Result<>& outcome = each.closed ? each.outcome : done;
        if (outcome) answers.emplace_back(std::move(each.answer));
        if (!outcome) answers.emplace_back(std::unexpected(outcome.error()));
    }
    return answers;
}

}  // namespace kubexm::executor::http2
