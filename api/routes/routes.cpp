#include "api/routes/routes.hpp"

#include <algorithm>
#include <array>

#include "api/routes/responses.hpp"
#include "api/view/view.hpp"
#include "api/www/pages.hpp"
#include "daemon/base/digest.hpp"
#include "daemon/base/grammar.hpp"

namespace kubexm::api {

namespace {

/// Whether an If-None-Match header has the tag, also as a weak one (W/).
bool matches(std::string_view if_none_match, std::string_view tag) {
    return if_none_match == "*" || if_none_match.find(tag) != std::string_view::npos;
}

Response status(const ClientRequest& request, const model::Snapshot& snapshot) {
    constexpr std::size_t kTagDigits = 32;
    const std::string body = status_json(snapshot);
    const std::string tag = '"' + sha256(body).substr(0, kTagDigits) + '"';
    Response response = plain(kJson, body, "no-cache");
    response.headers.emplace_back("ETag", tag);
    if (matches(request.if_none_match, tag)) {
        response.status = 304;
        response.body.clear();
    }
    return response;
}

Response plan(const ClientRequest&, const model::Snapshot& snapshot) {
    if (snapshot.plan) return plain(kJson, plan_json(*snapshot.plan));
    return problem(404, "No plan",
                   "no plan has run on this host since kubexmd started; see /v1/status");
}

Response certificates(const ClientRequest&, const model::Snapshot& snapshot) {
    return plain(kJson, certificates_json(snapshot.certificates));
}

/// The browser loads nothing from other origins, and shows the page in no frame of theirs.
Response page(std::string_view content_type, std::string_view body) {
    auto response = plain(content_type, body);
    response.headers.emplace_back(
        "Content-Security-Policy",
        "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    response.headers.emplace_back("Referrer-Policy", "no-referrer");
    return response;
}

Response index(const ClientRequest&, const model::Snapshot&) {
    return page("text/html; charset=utf-8", kIndexHtml);
}
Response style(const ClientRequest&, const model::Snapshot&) {
    return page("text/css; charset=utf-8", kStyleCss);
}
Response script(const ClientRequest&, const model::Snapshot&) {
    return page("text/javascript; charset=utf-8", kPageJs);
}
Response health(const ClientRequest&, const model::Snapshot&) {
    return plain("text/plain; charset=utf-8", "ok\n");
}

struct Route {
    std::string_view path;
    Response (*answer)(const ClientRequest&, const model::Snapshot&);
};

constexpr std::array<Route, 7> kRoutes{{{"/v1/status", status},
                                        {"/v1/certificates", certificates},
                                        {"/v1/plan", plan},
                                        {"/healthz", health},
                                        {"/", index},
                                        {"/style.css", style},
                                        {"/page.js", script}}};

/// Against DNS rebinding: the scripts of a site that resolves to this host must not read the API.
bool is_local_name(std::string_view host) {
    const auto port = host.rfind(':');
    if (port != std::string_view::npos && host.back() != ']') {
        if (!is_port(host.substr(port + 1))) return false;
        host = host.substr(0, port);
    }
    return host == "localhost" || host == "127.0.0.1" || host == "[::1]";
}

}  // namespace

Routed answer(const ClientRequest& request, const model::Snapshot& snapshot) {
    if (request.listener == ListenerKind::tcp && !is_local_name(request.host)) {
        return problem(421, "Misdirected Request",
                       "Host header: expected localhost, 127.0.0.1 or [::1]; use one of these "
                       "names");
    }
    if (request.path == "/v1/operations") return operation(request);
    const auto* route = std::ranges::find(kRoutes, request.path, &Route::path);
    if (route == kRoutes.end()) {
        return problem(404, "Not Found",
                       "no such path; expected /, /v1/status, /v1/plan, /v1/certificates, "
                       "/v1/operations or /healthz");
    }
    if (request.method != "GET" && request.method != "HEAD") {
        return wrong_method("GET, HEAD", "this path is read-only: use GET");
    }
    return route->answer(request, snapshot);
}

}  // namespace kubexm::api
