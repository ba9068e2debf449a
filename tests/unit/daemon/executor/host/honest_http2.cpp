#include <nghttp2/nghttp2.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "fake_http2.hpp"

namespace kubexm::executor {

namespace {

struct Honest {
    const Fd& stream;
    const std::function<std::string(const HttpRequest&)>& with;
    HttpRequest request;
    std::string answer;
    std::size_t sent = 0;
};

Honest& honest(void* user) { return *static_cast<Honest*>(user); }

nghttp2_nv field(std::string_view name, std::string_view value) {
    const auto bytes = [](std::string_view text) {
        return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
    };
    return {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

ssize_t on_send(nghttp2_session*, const std::uint8_t* data, std::size_t size, int, void* user) {
    const ssize_t sent = ::send(honest(user).stream.get(), data, size, MSG_NOSIGNAL);
    return sent < 0 ? ssize_t{NGHTTP2_ERR_CALLBACK_FAILURE} : sent;
}

int on_header(nghttp2_session*, const nghttp2_frame*, const std::uint8_t* name, std::size_t size,
              const std::uint8_t* value, std::size_t value_size, std::uint8_t, void* user) {
    honest(user).request.headers[{name, name + size}] = {value, value + value_size};
    return 0;
}

int on_body(nghttp2_session*, std::uint8_t, std::int32_t, const std::uint8_t* data,
            std::size_t size, void* user) {
    honest(user).request.body.append(data, data + size);
    return 0;
}

ssize_t on_answer_wanted(nghttp2_session* session, std::int32_t stream, std::uint8_t* place,
                         std::size_t size, std::uint32_t* flags, nghttp2_data_source*, void* user) {
    auto& [_, with, request, answer, sent] = honest(user);
    const std::string_view piece = std::string_view(answer).substr(sent, size);
    std::ranges::copy(piece, place);
    sent += piece.size();
    if (sent == answer.size()) {
        *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
        const std::array trailers{field("grpc-status", "0")};
        ::nghttp2_submit_trailer(session, stream, trailers.data(), trailers.size());
    }
    return static_cast<ssize_t>(piece.size());
}

int on_frame(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
    const bool whole = frame->hd.type == NGHTTP2_DATA &&
                       (frame->hd.flags & unsigned{NGHTTP2_FLAG_END_STREAM}) != 0;
    if (!whole) return 0;
    honest(user).answer = honest(user).with(honest(user).request);
    const std::array headers{field(":status", "200"), field("content-type", "application/grpc")};
    const nghttp2_data_provider body{{}, on_answer_wanted};
    return ::nghttp2_submit_response(session, frame->hd.stream_id, headers.data(), headers.size(),
                                     &body);
}

nghttp2_session* session_for(Honest& user) {
    nghttp2_session_callbacks* callbacks = nullptr;
    ::nghttp2_session_callbacks_new(&callbacks);
    ::nghttp2_session_callbacks_set_send_callback(callbacks, on_send);
    ::nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    ::nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_body);
    ::nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_session* session = nullptr;
    ::nghttp2_session_server_new(&session, callbacks, &user);
    ::nghttp2_session_callbacks_del(callbacks);
    ::nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, nullptr, 0);
    return session;
}

}  // namespace

FakeServer::Script answers(std::function<std::string(const HttpRequest&)> with) {
    return [with = std::move(with)](const Fd& stream) {
        Honest user{stream, with, {}, {}};
        const std::unique_ptr<nghttp2_session, decltype(&::nghttp2_session_del)> session(
            session_for(user), &::nghttp2_session_del);
        std::array<std::uint8_t, 4096> piece{};
        while (::nghttp2_session_send(session.get()) == 0) {
            const ssize_t size = ::recv(stream.get(), piece.data(), piece.size(), 0);
            if (size <= 0) return;
            ::nghttp2_session_mem_recv(session.get(), piece.data(), static_cast<std::size_t>(size));
        }
    };
}

}  // namespace kubexm::executor
