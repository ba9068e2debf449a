#include "daemon/kube/api.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "daemon/base/grammar.hpp"
#include "daemon/base/try.hpp"
#include "daemon/kube/http_api.hpp"
#include "daemon/kube/multi.hpp"
#include "daemon/kube/transfers.hpp"

namespace kubexm::kube {

namespace {

using nlohmann::json;

class Handle final : public Api::Pending {
public:
    Handle(std::shared_ptr<Multi> multi, std::shared_ptr<Transfer> transfer)
        : multi_(std::move(multi)), transfer_(std::move(transfer)) {
        multi_->start(transfer_);
    }
    ~Handle() override { multi_->cancel(*transfer_); }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;

private:
    std::shared_ptr<Multi> multi_;
    std::shared_ptr<Transfer> transfer_;
};

class HttpApi final : public Api {
public:
    HttpApi(std::shared_ptr<Multi> multi, std::shared_ptr<ApiServer> server,
            std::chrono::milliseconds deadline)
        : multi_(std::move(multi)), server_(std::move(server)), deadline_(deadline) {}

    const std::string& server() const override { return server_->credentials.server; }
    std::optional<std::chrono::seconds> clock_offset() const override {
        return server_->clock_offset;
    }

    void use_certificate(std::string certificate, Secret key) override {
        const ClusterCredentials& before = server_->credentials;
        server_ =
            std::make_shared<ApiServer>(ClusterCredentials{.server = before.server,
                                                           .server_name = before.server_name,
                                                           .ca = before.ca,
                                                           .token = Secret(),
                                                           .certificate = std::move(certificate),
                                                           .key = std::move(key)},
                                        server_->url, server_->clock_offset);
    }

    Api::Handle get(std::string path, Callback callback) override {
        return request({.method = "GET", .path = std::move(path)}, std::move(callback));
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
        ApiRequest request{
            .method = "GET", .path = std::move(path), .limit = limit, .is_stream = true};
        return std::make_unique<kube::Handle>(
            multi_, std::make_shared<StreamTransfer>(server_, std::move(request), *multi_,
                                                     std::move(line), std::move(end)));
    }

private:
    Api::Handle send(std::string method, std::string path, std::string type, const json& body,
                     Callback callback) {
        return request({.method = std::move(method),
                        .path = std::move(path),
                        .content_type = std::move(type),
                        .body = body.dump(-1, ' ', false, json::error_handler_t::replace)},
                       std::move(callback));
    }
    Api::Handle request(ApiRequest request, Callback callback) {
        request.limit = deadline_;
        return std::make_unique<kube::Handle>(
            multi_,
            std::make_shared<UnaryTransfer>(server_, std::move(request), std::move(callback)));
    }

    std::shared_ptr<Multi> multi_;
    std::shared_ptr<ApiServer> server_;
    std::chrono::milliseconds deadline_;
};

bool is_header_text(std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return c > 0x20 && c < 0x7f; });
}

Result<> check(const ClusterCredentials& credentials) {
    if (credentials.ca.empty()) return fail(Code::invalid, "expected a CA bundle, found none");
    if (credentials.certificate.empty() != credentials.key.empty()) {
        return fail(Code::invalid, "expected a client certificate and its key, found one of them");
    }
    if (!is_header_text(credentials.token.reveal())) {
        return fail(Code::invalid, "expected a token of printable ASCII without white space");
    }
    if (!credentials.server_name.empty() && !is_dns_name(credentials.server_name)) {
        return fail(Code::invalid, fmt::format("TLS server name: expected {}", kDnsName.words));
    }
    return {};
}

}  // namespace

Result<std::unique_ptr<Api>> make_api(Loop& loop, ClusterCredentials credentials,
                                      std::chrono::milliseconds deadline) {
    auto url = read_server_url(credentials.server);
    if (!url) return during("API server", url.error());
    if (auto checked = check(credentials); !checked) {
        return during("credentials for " + url->text(), checked.error());
    }
    auto multi = TRY(Multi::create(loop));
    auto server = std::make_shared<ApiServer>(std::move(credentials), std::move(*url));
    return std::make_unique<HttpApi>(std::move(multi), std::move(server), deadline);
}

Result<std::unique_ptr<Api>> Api::create(Loop& loop, ClusterCredentials credentials) {
    return make_api(loop, std::move(credentials), kDeadline);
}

}  // namespace kubexm::kube
