#include "daemon/executor/wire/messages.hpp"

#include "daemon/base/json.hpp"
#include "daemon/base/try.hpp"
#include "daemon/model/codec.hpp"

namespace kubexm::wire {

namespace {

template <typename Message>
Result<Message> unpack(std::string_view frame, const char* what) {
    const JsonLimits limits{.max_bytes = kMaxFrame, .max_depth = 12, .max_values = 25000};
    auto document = parse_json(frame, limits);
    if (!document) return during(what, document.error());
    Message message;
    TRY(codec::decode(*document, message, {what}));
    return message;
}

template <typename Message>
std::string pack_any(const Message& message) {
    // Text from a user may not be UTF-8; the reply must be sent nevertheless.
    return codec::encode(message).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::string pack(const Request& request) { return pack_any(request); }
std::string pack(const Reply& reply) { return pack_any(reply); }

Result<Request> unpack_request(std::string_view frame) { return unpack<Request>(frame, "request"); }
Result<Reply> unpack_reply(std::string_view frame) { return unpack<Reply>(frame, "reply"); }

}  // namespace kubexm::wire
