#include "daemon/kube/server_url.hpp"

#include <curl/curl.h>
#include <fmt/format.h>

#include <memory>

namespace kubexm::kube {

namespace {

struct UrlFree {
    void operator()(CURLU* url) const { ::curl_url_cleanup(url); }
};
using Url = std::unique_ptr<CURLU, UrlFree>;

constexpr std::size_t kMaxUrl = 1024;

/// Empty if the URL does not have it.
std::string part(CURLU* url, CURLUPart which, unsigned flags = 0) {
    char* text = nullptr;
    if (::curl_url_get(url, which, &text, flags) != CURLUE_OK) return "";
    std::string copy(text);
    ::curl_free(text);
    return copy;
}

bool has_any(CURLU* url, std::initializer_list<CURLUPart> parts) {
    for (const CURLUPart which : parts) {
        char* text = nullptr;
        const bool has = ::curl_url_get(url, which, &text, 0) == CURLUE_OK;
        ::curl_free(text);
        if (has) return true;
    }
    return false;
}

}  // namespace

std::string lower_case(std::string text) {
    constexpr char kToLower = 'a' - 'A';
    for (char& c : text) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + kToLower);
    }
    return text;
}

std::string ServerUrl::text() const { return fmt::format("https://{}:{}{}", host, port, path); }

Result<ServerUrl> read_server_url(std::string_view text) {
    const auto refused = [] {
        return fail(Code::invalid, "expected https://HOST[:PORT][/PATH], without user and query");
    };
    const bool has_scheme = text.find("://") != std::string_view::npos;
    const std::string full = (has_scheme ? "" : "https://") + std::string(text);
    const Url url(::curl_url());
    if (text.empty() || full.size() > kMaxUrl || full.find('\0') != std::string::npos || !url ||
        ::curl_url_set(url.get(), CURLUPART_URL, full.c_str(), CURLU_DISALLOW_USER) != CURLUE_OK ||
        part(url.get(), CURLUPART_SCHEME) != "https" ||
        has_any(url.get(), {CURLUPART_QUERY, CURLUPART_FRAGMENT, CURLUPART_ZONEID})) {
        return refused();
    }
    // In lower case, as the executor and certificates have names.
    ServerUrl server{.host = lower_case(part(url.get(), CURLUPART_HOST)),
                     .port = part(url.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT),
                     .path = part(url.get(), CURLUPART_PATH)};
    while (server.path.ends_with('/')) server.path.pop_back();
    return server;
}

}  // namespace kubexm::kube
