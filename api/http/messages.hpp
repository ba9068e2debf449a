#pragma once

#include <drogon/HttpRequest.h>
#include <drogon/HttpResponse.h>

#include "api/http/peer.hpp"
#include "api/routes/routes.hpp"

namespace kubexm::http {

// The messages of api/routes and of Drogon.

api::ClientRequest request_of(const drogon::HttpRequestPtr& from, const ClientPeer& peer);
drogon::HttpResponsePtr response_of(api::Response from);

}  // namespace kubexm::http
