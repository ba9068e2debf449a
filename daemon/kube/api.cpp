#include "daemon/kube/api.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "daemon/kube/answers.hpp"
#include "daemon/kube/http_api.hpp"
#include "daemon/kube/multi.hpp"

namespace kubexm::kube {

namespace {

using nlohmann::json;

class Handle final : public Api::Pending {
public:
    Handle(std::shared_ptr<Multi> multi, std::shared_ptr<Exchange> exchange)
        : multi_(std::move(multi)), exchange_(std::move(exchange)) {
        multi_->begin(exchange_);
    }
    ~Handle() override { multi_->end(*exchange_); }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;

private:
    std::shared_ptr<Multi> multi_;
    std::shared_ptr<Exchange> exchange_;
};

class HttpApi final : public Api {
public:
    HttpApi(std::shared_ptr<Multi> multi, std::shared_ptr<const Endpoint> identity,
            std::chrono::milliseconds deadline)
        : multi_(std::move(multi)), identity_(std::move(identity)), deadline_(deadline) {}

    const std::string& server() const override { return identity_->access.server; }

    Api::Handle get(std::string path, Callback callback) override {
        return ask({.method = "GET", .path = std::move(path)}, std::move(callback));
    }
    Api::Handle post(std::string path, const json& body, Callback callback) override {
        return send("POST", std::move(path), "application/json", body, std::move(callback));
    }
    Api::Handle merge_patch(std::string path, const json& patch, Callback callback) override {
        path += path.find('?') == std::string::npos ? "?" : "&";
        path += "fieldManager=kubexmd";
        return send("PATCH", std::move(path), "application/merge-patch+json", patch,
                    std::move(callback));
    }
    Api::Handle remove(std::string path, const json& options, Callback callback) override {
        return send("DELETE", std::move(path), "application/json", options, std::move(callback));
    }
    Api::Handle stream(std::string path, std::chrono::seconds limit, LineCallback line,
                       EndCallback end) override {
        Request request{
            .method = "GET", .path = std::move(path), .limit = limit, .is_stream = true};
        return std::make_unique<kube::Handle>(
            multi_, std::make_shared<Stream>(identity_, std::move(request), *multi_,
                                             std::move(line), std::move(end)));
    }

private:
    Api::Handle send(std::string method, std::string path, std::string type, const json& body,
                     Callback callback) {
        return ask({.method = std::move(method),
                    .path = std::move(path),
                    .content_type = std::move(type),
                    .body = body.dump(-1, ' ', false, json::error_handler_t::replace)},
                   std::move(callback));
    }
    Api::Handle ask(Request request, Callback callback) {
        request.limit = deadline_;
        return std::make_unique<kube::Handle>(
            multi_, std::make_shared<Unary>(identity_, std::move(request), std::move(callback)));
    }

    std::shared_ptr<Multi> multi_;
    std::shared_ptr<const Endpoint> identity_;
    std::chrono::milliseconds deadline_;
};

bool is_header_text(std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return c > 0x20 && c < 0x7f; });
}

bool is_host_name(std::string_view text) {
    return std::ranges::all_of(text, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '.' || c == '-';
    });
}

Result<> check(const ClusterCredentials& access) {
    if (access.ca.empty()) return fail(Code::invalid, "a CA bundle is missing");
    if (access.certificate.empty() != access.key.empty()) {
        return fail(Code::invalid, "a client certificate and its key are needed together");
    }
    if (!is_header_text(access.token.reveal())) {
        return fail(Code::invalid, "the token has characters that no token has");
    }
    if (!is_host_name(access.server_name)) {
        return fail(Code::invalid, "the server's name is no host name");
    }
    return {};
}

}  // namespace

Result<std::unique_ptr<Api>> make_api(Loop& loop, ClusterCredentials access,
                                      std::chrono::milliseconds deadline) {
    auto url = read_server_url(access.server);
    if (!url) return during("API server", url.error());
    if (auto checked = check(access); !checked) {
        return during("access to " + url->text(), checked.error());
    }
    auto multi = Multi::create(loop);
    if (!multi) return std::unexpected(multi.error());
    auto identity = std::make_shared<const Endpoint>(std::move(access), std::move(*url));
    return std::make_unique<HttpApi>(std::move(*multi), std::move(identity), deadline);
}

Result<std::unique_ptr<Api>> Api::create(Loop& loop, ClusterCredentials access) {
    return make_api(loop, std::move(access), kDeadline);
}

}  // namespace kubexm::kube
