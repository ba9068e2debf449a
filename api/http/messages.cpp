#include "api/http/messages.hpp"

#include <string>
#include <utility>

namespace kubexm::http {

api::ClientRequest request_of(const drogon::HttpRequestPtr& from, const ClientPeer& peer) {
    return {.method = from->methodString(),
            .path = from->path(),
            .host = from->getHeader("host"),
            .if_none_match = from->getHeader("if-none-match"),
            .body = std::string(from->body()),
            .listener = peer.listener,
            .uid = peer.uid};
}

drogon::HttpResponsePtr response_of(api::Response from) {
    auto to = drogon::HttpResponse::newHttpResponse();
    to->setStatusCode(static_cast<drogon::HttpStatusCode>(from.status));
    to->setContentTypeString(from.content_type);
    for (auto& [name, value] : from.headers) {
        to->addHeader(std::string(name), std::move(value));
    }
    if (from.status == drogon::k304NotModified) {
        to->setPassThrough(true);  // else Drogon adds Content-Length: 0
    } else {
        to->setBody(std::move(from.body));
    }
    return to;
}

}  // namespace kubexm::http
