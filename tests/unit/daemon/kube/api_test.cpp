#include "daemon/kube/api.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <string>

#include "tests/unit/daemon/kube/api_fixture.hpp"

namespace kubexm::kube {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kVersionAnswer = R"({"major":"1"})";

void answer_well(const Seen&, Connection& connection) { connection.answer(200, kVersionAnswer); }

using ApiRequests = ApiTest;

TEST_F(ApiRequests, ReceiveJson) {
    const HttpsServer server(authority_, answer_well);
    const auto client = api(access(server));
    const auto answer = get(*client);
    ASSERT_TRUE(answer) << answer.error().error.what;
    EXPECT_EQ(*answer, Json::parse(kVersionAnswer));
    EXPECT_EQ(client->server(), server.url());
}

TEST_F(ApiRequests, HaveUserAgentAndToken) {
    const HttpsServer server(authority_, answer_well);
    const auto client = api(access(server));
    ASSERT_TRUE(get(*client, "/api/v1/nodes/h1"));
    const Seen seen = server.seen().at(0);
    EXPECT_EQ(seen.method, "GET");
    EXPECT_EQ(seen.path, "/api/v1/nodes/h1");
    EXPECT_EQ(seen.headers.at("authorization"), "Bearer " + std::string(kToken));
    EXPECT_EQ(seen.headers.at("accept"), "application/json");
    EXPECT_THAT(seen.headers.at("user-agent"), testing::StartsWith("kubexmd/"));
    EXPECT_EQ(seen.client, "");
}

TEST_F(ApiRequests, PresentTheClientCertificate) {
    const HttpsServer server(authority_, answer_well);
    const pki::Key key = make_key();
    ClusterCredentials with_pair{.server = server.url(), .ca = authority_.certificate()};
    with_pair.certificate = authority_.issue(
        key,
        {.subject = {{"CN", "system:node:h1"}}, .extensions = {{NID_ext_key_usage, "clientAuth"}}});
    with_pair.key = Secret(pem_of(key));
    const auto client = api(std::move(with_pair));
    ASSERT_TRUE(get(*client));
    EXPECT_EQ(server.seen().at(0).client, "system:node:h1");
    EXPECT_FALSE(server.seen().at(0).headers.contains("authorization"));
}

TEST_F(ApiRequests, HaveTheirBody) {
    const HttpsServer server(authority_, answer_well);
    const auto client = api(access(server));
    const Json body{{"kind", "x"}, {"filler", std::string(100'000, 'x')}};
    ASSERT_TRUE(ask([&](Api::Callback done) { return client->post("/a", body, std::move(done)); }));
    ASSERT_TRUE(
        ask([&](Api::Callback done) { return client->merge_patch("/b", body, std::move(done)); }));
    ASSERT_TRUE(ask([&](Api::Callback done) {
        return client->merge_patch("/b?fieldValidation=Strict", body, std::move(done));
    }));
    ASSERT_TRUE(
        ask([&](Api::Callback done) { return client->remove("/c", body, std::move(done)); }));
    const std::array<std::array<const char*, 3>, 4> expected{{
        {"POST", "/a", "application/json"},
        {"PATCH", "/b?fieldManager=kubexmd", "application/merge-patch+json"},
        {"PATCH", "/b?fieldValidation=Strict&fieldManager=kubexmd", "application/merge-patch+json"},
        {"DELETE", "/c", "application/json"},
    }};
    const auto seen = server.seen();
    ASSERT_EQ(seen.size(), expected.size());
    for (std::size_t i = 0; i < seen.size(); ++i) {
        EXPECT_EQ(seen[i].method, expected[i][0]);
        EXPECT_EQ(seen[i].path, expected[i][1]);
        EXPECT_EQ(seen[i].headers.at("content-type"), expected[i][2]);
        EXPECT_FALSE(seen[i].headers.contains("expect"));
        EXPECT_EQ(Json::parse(seen[i].body), body);
    }
}

TEST_F(ApiRequests, ShareAConnection) {
    const HttpsServer server(authority_, answer_well);
    const auto client = api(access(server));
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(get(*client));
    EXPECT_EQ(server.connections(), 1);
}

TEST_F(ApiRequests, GoBelowThePathOfTheServer) {
    const HttpsServer server(authority_, answer_well);
    ClusterCredentials to = access(server);
    to.server += "/k8s/clusters/c-1/";
    const auto client = api(std::move(to));
    ASSERT_TRUE(get(*client));
    EXPECT_EQ(server.seen().at(0).path, "/k8s/clusters/c-1/version");
}

using ApiTrust = ApiTest;

/// Refused before the request, and so the token, was sent.
void expect_no_trust(const Answer<nlohmann::json>& answer, const HttpsServer& server) {
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().error.code, Code::unavailable);
    EXPECT_EQ(answer.error().status, 0);
    EXPECT_THAT(answer.error().error.what, HasSubstr("GET /version at " + server.url()));
    EXPECT_TRUE(server.seen().empty());
}

TEST_F(ApiTrust, AnotherAuthorityIsRefused) {
    const TestAuthority other("other CA");
    const HttpsServer server(other, answer_well);
    const auto client = api(access(server));
    const auto answer = get(*client);
    expect_no_trust(answer, server);
    EXPECT_TRUE(answer.error().untrusted);
    EXPECT_THAT(answer.error().error.what, HasSubstr("certificate"));
}

TEST_F(ApiTrust, AnotherHostNameIsRefused) {
    const HttpsServer server(authority_, answer_well, "DNS:other.example");
    const auto client = api(access(server));
    expect_no_trust(get(*client), server);
}

TEST_F(ApiTrust, TheTlsServerNameIsChecked) {
    const HttpsServer server(authority_, answer_well, "DNS:other.example");
    ClusterCredentials to = access(server);
    to.server_name = "other.example";
    const auto client = api(std::move(to));
    const auto answer = get(*client);
    EXPECT_TRUE(answer) << answer.error().error.what;
}

TEST_F(ApiTrust, AMalformedCaTrustsNoServer) {
    const HttpsServer server(authority_, answer_well);
    ClusterCredentials to = access(server);
    to.ca = "garbage";
    const auto client = api(std::move(to));
    expect_no_trust(get(*client), server);
}

TEST_F(ApiTrust, RedirectsAreNotFollowed) {
    const HttpsServer target(authority_, answer_well);
    const HttpsServer server(authority_, [&](const Seen&, Connection& connection) {
        connection.answer(302, "", "Location: " + target.url() + "/version\r\n");
    });
    const auto client = api(access(server));
    const auto answer = get(*client);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().status, 302);
    EXPECT_EQ(server.seen().size(), 1U);
    EXPECT_EQ(target.connections(), 0);
}

TEST_F(ApiTrust, ProxiesOfTheEnvironmentAreIgnored) {
    const HttpsServer server(authority_, answer_well);
    const HttpsServer proxy(authority_, answer_well);
    for (const char* name : {"https_proxy", "HTTPS_PROXY", "all_proxy"}) {
        ::setenv(name, proxy.url().c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
    }
    const auto client = api(access(server));
    const auto answer = get(*client);
    for (const char* name : {"https_proxy", "HTTPS_PROXY", "all_proxy"}) {
        ::unsetenv(name);  // NOLINT(concurrency-mt-unsafe)
    }
    EXPECT_TRUE(answer);
    EXPECT_EQ(proxy.connections(), 0);
}

TEST_F(ApiTrust, MalformedCredentialsAreRefused) {
    const auto finding = [this](const std::function<void(ClusterCredentials&)>& spoil) {
        ClusterCredentials access{.server = "https://10.0.0.1:6443", .ca = "x"};
        spoil(access);
        const auto made = Api::create(loop_, std::move(access));
        return made ? "" : made.error().what;
    };
    EXPECT_EQ(finding([](ClusterCredentials&) {}), "");
    EXPECT_THAT(finding([](ClusterCredentials& a) { a.ca = ""; }), HasSubstr("CA bundle"));
    EXPECT_THAT(finding([](ClusterCredentials& a) { a.server = "http://10.0.0.1"; }),
                HasSubstr("https://"));
    EXPECT_THAT(finding([](ClusterCredentials& a) { a.certificate = "x"; }), HasSubstr("its key"));
    EXPECT_THAT(finding([](ClusterCredentials& a) { a.token = Secret("x\r\nHost: y"); }),
                HasSubstr("token"));
    EXPECT_THAT(finding([](ClusterCredentials& a) { a.server_name = "a/b"; }), HasSubstr("name"));
}

using ApiFailures = ApiTest;

struct Said {
    int status;
    const char* reason;
    Code code;
};

TEST_F(ApiFailures, HaveACode) {
    for (const auto& [status, reason, code] : std::array<Said, 13>{{
             {400, "BadRequest", Code::invalid},
             {401, "Unauthorized", Code::denied},
             {403, "Forbidden", Code::denied},
             {404, "NotFound", Code::not_found},
             {409, "AlreadyExists", Code::conflict},
             {410, "Gone", Code::exhausted},
             {410, "Expired", Code::exhausted},
             {415, "UnsupportedMediaType", Code::invalid},
             {422, "Invalid", Code::invalid},
             {429, "TooManyRequests", Code::unavailable},
             {500, "InternalError", Code::unavailable},
             {503, "ServiceUnavailable", Code::unavailable},
             {504, "Timeout", Code::unavailable},
         }}) {
        const Json body{{"kind", "Status"}, {"reason", reason}, {"message", "not\nnow"}};
        const HttpsServer server(authority_, [&](const Seen&, Connection& connection) {
            connection.answer(status, body.dump(), "Retry-After: 17\r\n");
        });
        const auto client = api(access(server));
        const auto answer = get(*client);
        ASSERT_FALSE(answer);
        EXPECT_EQ(answer.error().error.code, code) << status;
        EXPECT_EQ(answer.error().status, status);
        EXPECT_EQ(answer.error().reason, reason);
        EXPECT_EQ(answer.error().retry_after.count(), 17);
        EXPECT_THAT(answer.error().error.what,
                    HasSubstr("GET /version at " + server.url() + ": the server answered " +
                              std::to_string(status) + ": not\\nnow"));
    }
}

TEST_F(ApiFailures, AreShort) {
    const HttpsServer server(authority_, [&](const Seen&, Connection& connection) {
        connection.answer(403, Json{{"message", std::string(100'000, 'x')}}.dump());
    });
    const auto client = api(access(server));
    const auto answer = get(*client, "/" + std::string(5'000, 'p'));
    ASSERT_FALSE(answer);
    EXPECT_LT(answer.error().error.what.size(), 1'000U);
}

TEST_F(ApiFailures, NeedNoStatusObject) {
    const HttpsServer server(authority_, [&](const Seen&, Connection& connection) {
        connection.answer(404, "404 page not found");
    });
    const auto client = api(access(server));
    const auto answer = get(*client);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().error.code, Code::not_found);
    EXPECT_EQ(answer.error().reason, "");
}

TEST_F(ApiFailures, NeverContainTheToken) {
    const HttpsServer server(authority_, [&](const Seen&, Connection& connection) {
        connection.send("HTTP/1.1 garbage\r\n");
        connection.close();
    });
    const auto client = api(access(server));
    const auto answer = get(*client);
    ASSERT_FALSE(answer);
    EXPECT_THAT(answer.error().error.what, Not(HasSubstr(std::string(kToken))));
}

TEST_F(ApiFailures, IncludeARefusedConnection) {
    ClusterCredentials to;
    {
        const HttpsServer server(authority_, answer_well);
        to = access(server);
    }
    const auto client = api(std::move(to));
    const auto answer = get(*client);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().error.code, Code::unavailable);
}

using ApiResponses = ApiTest;

TEST_F(ApiResponses, MayComeByteByByte) {
    const HttpsServer server(authority_, [](const Seen&, Connection& connection) {
        connection.begin_chunks();
        for (const char byte : std::string(kVersionAnswer)) connection.chunk({&byte, 1});
        connection.chunk("");
    });
    const auto client = api(access(server));
    const auto answer = get(*client);
    ASSERT_TRUE(answer);
    EXPECT_EQ(*answer, Json::parse(kVersionAnswer));
}

TEST_F(ApiResponses, ThatEndEarlyAreUnavailable) {
    const HttpsServer server(authority_, [](const Seen&, Connection& connection) {
        connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"major\"");
        connection.close();
    });
    const auto client = api(access(server));
    const auto answer = get(*client);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().error.code, Code::unavailable);
}

TEST_F(ApiResponses, BeyondALimitAreInvalid) {
    const std::array<std::string, 5> all{
        "", "<html>", R"({"a":1,"a":2})", std::string(100, '[') + std::string(100, ']'),
        '"' + std::string(std::size_t{5} * 1024 * 1024, 'x') + '"'};
    for (const std::string& body : all) {
        const HttpsServer server(
            authority_, [&](const Seen&, Connection& connection) { connection.answer(200, body); });
        const auto client = api(access(server));
        const auto answer = get(*client);
        ASSERT_FALSE(answer) << body.substr(0, 20);
        EXPECT_EQ(answer.error().error.code, Code::invalid) << body.substr(0, 20);
        EXPECT_THAT(answer.error().error.what, HasSubstr("GET /version at " + server.url()));
    }
}

TEST_F(ApiResponses, HaveADeadline) {
    const HttpsServer server(authority_, [](const Seen&, Connection& connection) {
        connection.wait_for_the_client_to_go();
    });
    const auto client = api(access(server), 300ms);
    const auto began = std::chrono::steady_clock::now();
    const auto answer = get(*client);
    const auto took = std::chrono::steady_clock::now() - began;
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().error.code, Code::timeout);
    EXPECT_GE(took, 300ms);
}

using ApiHandles = ApiTest;

TEST_F(ApiHandles, CancelTheirRequest) {
    std::promise<void> asked;
    std::promise<void> gone;
    const HttpsServer server(authority_, [&](const Seen&, Connection& connection) {
        asked.set_value();
        connection.wait_for_the_client_to_go();
        gone.set_value();
    });
    const auto client = api(access(server));
    std::atomic<bool> was_called = false;
    Api::Handle handle;
    on_loop([&] {
        handle = client->get("/", [&](Answer<Json>) { was_called = true; });
        EXPECT_FALSE(was_called);
    });
    wait_for(asked.get_future());
    on_loop([&] { handle.reset(); });
    wait_for(gone.get_future());
    EXPECT_FALSE(was_called);
}

TEST_F(ApiHandles, MayBeDestroyedInTheirCallback) {
    const HttpsServer server(authority_, answer_well);
    auto client = must(make_api(loop_, access(server), kDeadline));
    std::array<Api::Handle, 3> handles;
    std::promise<void> called;
    on_loop([&] {
        for (Api::Handle& handle : handles) {
            handle = client->get("/", [&](Answer<Json>) {
                handles = {};
                client.reset();
                called.set_value();  // a second call would throw
            });
        }
    });
    wait_for(called.get_future());
    on_loop([] {});  // a later callback would have come
}

TEST_F(ApiHandles, MayStartTheNextRequestInTheirCallback) {
    const HttpsServer server(authority_, answer_well);
    const auto client = api(access(server));
    Api::Handle handle;
    int asked = 0;
    std::promise<void> enough;
    std::function<void()> ask_again = [&] {
        if (++asked > 5) return enough.set_value();
        handle = client->get("/", [&](Answer<Json>) { ask_again(); });
    };
    on_loop(ask_again);
    wait_for(enough.get_future());
    EXPECT_EQ(server.seen().size(), 5U);
    on_loop([&] { handle.reset(); });
}

}  // namespace
}  // namespace kubexm::kube
