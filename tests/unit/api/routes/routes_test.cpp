#include "api/routes/routes.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "api/view/view.hpp"
#include "tests/unit/api/example.hpp"
#include "tests/unit/api/golden.hpp"

namespace kubexm::api {
namespace {

using nlohmann::json;

ClientRequest get(const std::string& path) {
    return {"GET", path, "localhost:10240", "", "", ListenerKind::tcp, std::nullopt};
}

ClientRequest post(const std::string& body) {
    return {"POST", "/v1/operations", "", "", body, ListenerKind::control, 0};
}

Response respond(const ClientRequest& request, const model::Snapshot& snapshot) {
    return std::get<Response>(answer(request, snapshot));
}

std::string header(const Response& response, std::string_view name) {
    for (const auto& [key, value] : response.headers) {
        if (key == name) return value;
    }
    return "";
}

/// An answer without its body, except problems.
json outline(const ClientRequest& request, const Response& response) {
    json headers = json::object();
    for (const auto& [name, value] : response.headers) headers[std::string(name)] = value;
    const bool problem = response.content_type == "application/problem+json";
    return {{"method", request.method},
            {"path", request.path},
            {"status", response.status},
            {"contentType", response.content_type},
            {"headers", std::move(headers)},
            {"problem", problem ? json::parse(response.body) : json()}};
}

/// One line for each route and method, also without a plan and with a foreign Host header.
std::string every_answer() {
    std::string lines;
    const auto ask = [&](const ClientRequest& request, const model::Snapshot& snapshot) {
        lines += outline(request, respond(request, snapshot)).dump() + "\n";
    };
    for (const char* path : {"/", "/style.css", "/page.js", "/healthz", "/v1/status", "/v1/plan",
                             "/v1/certificates", "/v1/operations", "/x"}) {
        for (const char* method : {"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"}) {
            ClientRequest request = get(path);
            request.method = method;
            ask(request, joining_host());
        }
        ClientRequest foreign = get(path);
        foreign.host = "evil.example";
        ask(foreign, joining_host());
    }
    ask(get("/v1/plan"), fresh_host());
    ClientRequest again = get("/v1/status");
    again.if_none_match = header(respond(again, joining_host()), "ETag");
    ask(again, joining_host());
    ask(post(R"({"verb":"dance"})"), fresh_host());
    const ClientRequest leave = post(R"({"verb":"leave"})");
    for (const Code code : {Code::not_found, Code::conflict, Code::unavailable, Code::internal}) {
        lines += outline(leave, decided("operation-1", fail(code, "reason"))).dump() + "\n";
    }
    lines += outline(leave, decided("operation-1", "text")).dump() + "\n";
    return lines;
}

TEST(Routes, AnswerEveryPathAndMethodAsRecorded) {
    EXPECT_EQ(every_answer(), golden("answers.jsonl"));
}

TEST(Routes, AnswerWithTheStatusAndThePlanOfTheSnapshot) {
    EXPECT_EQ(respond(get("/v1/status"), joining_host()).body, golden("status-joining.json"));
    EXPECT_EQ(respond(get("/v1/plan"), joining_host()).body, golden("plan.json"));
    EXPECT_EQ(respond(get("/healthz"), joining_host()).body, "ok\n");
}

TEST(Routes, ATagIsValidUntilTheSnapshotChanges) {
    ClientRequest request = get("/v1/status");
    const std::string tag = header(respond(request, fresh_host()), "ETag");
    for (const std::string& known : {tag, "W/" + tag, "\"other\", " + tag, std::string("*")}) {
        request.if_none_match = known;
        const Response same = respond(request, fresh_host());
        EXPECT_EQ(same.status, 304) << known;
        EXPECT_EQ(same.body, "");
        EXPECT_EQ(header(same, "ETag"), tag);
    }
    request.if_none_match = tag;
    EXPECT_EQ(respond(request, joining_host()).status, 200);
}

TEST(Routes, RefuseOtherHostHeadersOverTcp) {
    ClientRequest request = get("/v1/status");
    for (const char* host :
         {"localhost", "localhost:10240", "127.0.0.1", "127.0.0.1:1", "[::1]", "[::1]:80"}) {
        request.host = host;
        EXPECT_EQ(respond(request, fresh_host()).status, 200) << host;
    }
    for (const char* host :
         {"", "evil.example", "localhost.evil.example", "localhost:x", "127.0.0.1@e", "::1",
          "[::1]x", "127.0.0.2", "localhost:80:evil", "]", ":"}) {
        request.host = host;
        EXPECT_EQ(respond(request, fresh_host()).status, 421) << host;
        request.listener = ListenerKind::socket;
        EXPECT_EQ(respond(request, fresh_host()).status, 200) << host;
        request.listener = ListenerKind::tcp;
    }
}

TEST(Routes, MakeACommandOfAnOperation) {
    EXPECT_EQ(std::get<model::Command>(answer(post(R"({"verb":"pause","for":90})"), fresh_host())),
              (model::Command{model::Verb::pause, std::chrono::seconds(90), 0, "control", ""}));
}

TEST(Routes, AcceptOperationsFromRootOnTheControlSocketOnly) {
    ClientRequest request = post(R"({"verb":"leave"})");
    request.host = "localhost";
    for (const ListenerKind listener :
         {ListenerKind::tcp, ListenerKind::socket, ListenerKind::control}) {
        for (const std::optional<std::uint32_t> uid :
             {std::optional<std::uint32_t>(), std::optional(0U), std::optional(1000U),
              std::optional(65534U)}) {
            request.listener = listener;
            request.uid = uid;
            const auto given = answer(request, fresh_host());
            const bool permitted = listener == ListenerKind::control && uid == 0U;
            ASSERT_EQ(std::holds_alternative<model::Command>(given), permitted);
            if (permitted) continue;
            EXPECT_EQ(std::get<Response>(given).status, 403);
            EXPECT_NE(std::get<Response>(given).body.find("/run/kubexm/control.sock"),
                      std::string::npos);
        }
    }
}

TEST(Routes, RefuseAMalformedOperationWithTheMember) {
    const Response refused = respond(post(R"({"verb":"leave","for":1})"), fresh_host());
    EXPECT_EQ(refused.status, 400);
    EXPECT_NE(refused.body.find("operation.for: only a pause"), std::string::npos);
}

TEST(Routes, AnswerTheDecisionAboutACommand) {
    EXPECT_EQ(decided("operation-1", "text").body, golden("operation.json"));
    const std::vector<std::pair<Code, int>> cases{{Code::conflict, 409},    {Code::denied, 409},
                                                  {Code::invalid, 409},     {Code::not_found, 404},
                                                  {Code::unavailable, 503}, {Code::timeout, 503},
                                                  {Code::exhausted, 503},   {Code::internal, 500}};
    for (const auto& [code, status] : cases) {
        const Response refused = decided("operation-1", fail(code, "the reason"));
        EXPECT_EQ(refused.status, status) << name_of(code);
        EXPECT_NE(refused.body.find("the reason"), std::string::npos);
    }
}

TEST(Routes, ThePageLoadsNothingFromOtherOrigins) {
    for (const char* path : {"/", "/style.css", "/page.js"}) {
        const std::string body = respond(get(path), fresh_host()).body;
        EXPECT_GT(body.size(), 500U) << path;
        EXPECT_EQ(body.find("innerHTML"), std::string::npos) << path;
        EXPECT_EQ(body.find("src=\"http"), std::string::npos) << path;
        EXPECT_EQ(body.find("url("), std::string::npos) << path;
    }
}

}  // namespace
}  // namespace kubexm::api
