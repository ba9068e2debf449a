#include "daemon/executor/wire/messages.hpp"

#include "daemon/base/json.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/wire/fitting.hpp"
#include "daemon/model/plan_codec.hpp"

namespace kubexm::wire {

namespace {

using nlohmann::json;

constexpr JsonLimits kRequestLimits{.max_bytes = kMaxFrame, .max_depth = 13, .max_values = 25000};
/// Of the executor, which root trusts: many owners with short outcomes have more values.
constexpr JsonLimits kReplyLimits{.max_bytes = kMaxFrame, .max_depth = 13, .max_values = 40000};

struct RequestFrame {
    std::uint32_t id = 0;
    Request request;

    static void fields(auto& self, auto&& visit) {
        visit("id", self.id);
        visit("request", self.request);
    }
};

struct ReplyFrame {
    std::uint32_t id = 0;
    bool last = true;
    Reply reply;

    static void fields(auto& self, auto&& visit) {
        visit("id", self.id);
        visit("last", self.last);
        visit("reply", self.reply);
    }
};

/// Text from a user may not be UTF-8; the reply must be sent nevertheless.
std::string text_of(const json& document) {
    return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

template <typename Frame>
Result<> unpack(const Result<json>& document, Frame& frame, const char* what) {
    if (!document) return during(what, document.error());
    return codec::decode(*document, frame, {what});
}

Result<Request> request_of(const Result<json>& document) {
    RequestFrame frame;
    TRY(unpack(document, frame, "frame"));
    if (frame.id == 0) return fail(Code::invalid, "frame.id: expected a number above 0");
    return std::move(frame.request);
}

std::uint32_t id_of(const Result<json>& document) {
    std::uint32_t id = 0;
    if (!document || !document->is_object() || !document->contains("id")) return 0;
    return codec::decode((*document)["id"], id, {"frame.id"}) ? id : 0;
}

}  // namespace

std::string pack(std::uint32_t id, const Request& request) {
    return text_of(codec::encode(RequestFrame{id, request}));
}

std::string pack(std::uint32_t id, const Reply& reply, Part part) {
    return text_of(codec::encode(ReplyFrame{id, part == Part::last, fitted(reply)}));
}

std::shared_ptr<const Fd> content_of(const Reply& reply) {
    const auto* bootstrap = std::get_if<BootstrapKubeconfig>(&reply);
    return bootstrap == nullptr ? nullptr : bootstrap->content;
}

std::string to_json(const Reply& reply) { return text_of(codec::encode(reply)); }

NumberedRequest unpack_request(std::string_view frame) {
    const auto document = parse_json(frame, kRequestLimits);
    return {id_of(document), request_of(document)};
}

Result<NumberedReply> unpack_reply(std::string_view text, std::vector<Fd> descriptors) {
    ReplyFrame frame;
    TRY(unpack(parse_json(text, kReplyLimits), frame, "frame"));
    auto* bootstrap = std::get_if<BootstrapKubeconfig>(&frame.reply);
    if (bootstrap != nullptr && !descriptors.empty()) {
        bootstrap->content = std::make_shared<const Fd>(std::move(descriptors.front()));
    }
    return NumberedReply{frame.id, frame.last ? Part::last : Part::more, std::move(frame.reply)};
}

}  // namespace kubexm::wire
