#include "api/routes/routes.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "api/view/view.hpp"
#include "tests/unit/api/example.hpp"
#include "tests/unit/api/golden.hpp"

namespace kubexm::api {
namespace {

using nlohmann::json;

Request get(const std::string& path) { return {"GET", path, "localhost:10240", "", true}; }

std::string header(const Response& response, std::string_view name) {
    for (const auto& [key, value] : response.headers) {
        if (key == name) return value;
    }
    return "";
}

/// An answer without its body, except problems.
json outline(const Request& request, const Response& response) {
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
    const auto ask = [&](const Request& request, const model::Snapshot& snapshot) {
        lines += outline(request, answer(request, snapshot)).dump() + "\n";
    };
    for (const char* path :
         {"/", "/style.css", "/page.js", "/healthz", "/v1/status", "/v1/plan", "/x"}) {
        for (const char* method : {"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"}) {
            Request request = get(path);
            request.method = method;
            ask(request, joining_host());
        }
        Request foreign = get(path);
        foreign.host = "evil.example";
        ask(foreign, joining_host());
    }
    ask(get("/v1/plan"), fresh_host());
    Request again = get("/v1/status");
    again.if_none_match = header(answer(again, joining_host()), "ETag");
    ask(again, joining_host());
    return lines;
}

TEST(Routes, AnswerEveryPathAndMethodAsRecorded) {
    EXPECT_EQ(every_answer(), golden("answers.jsonl"));
}

TEST(Routes, AnswerWithTheStatusAndThePlanOfTheSnapshot) {
    EXPECT_EQ(answer(get("/v1/status"), joining_host()).body, golden("status-joining.json"));
    EXPECT_EQ(answer(get("/v1/plan"), joining_host()).body, golden("plan.json"));
    EXPECT_EQ(answer(get("/healthz"), joining_host()).body, "ok\n");
}

TEST(Routes, ATagIsValidUntilTheSnapshotChanges) {
    Request request = get("/v1/status");
    const std::string tag = header(answer(request, fresh_host()), "ETag");
    for (const std::string& known : {tag, "W/" + tag, "\"other\", " + tag, std::string("*")}) {
        request.if_none_match = known;
        const Response same = answer(request, fresh_host());
        EXPECT_EQ(same.status, 304) << known;
        EXPECT_EQ(same.body, "");
        EXPECT_EQ(header(same, "ETag"), tag);
    }
    request.if_none_match = tag;
    EXPECT_EQ(answer(request, joining_host()).status, 200);
}

TEST(Routes, RefuseOtherHostHeadersOverTcp) {
    Request request = get("/v1/status");
    for (const char* host :
         {"localhost", "localhost:10240", "127.0.0.1", "127.0.0.1:1", "[::1]", "[::1]:80"}) {
        request.host = host;
        EXPECT_EQ(answer(request, fresh_host()).status, 200) << host;
    }
    for (const char* host :
         {"", "evil.example", "localhost.evil.example", "localhost:x", "127.0.0.1@e", "::1",
          "[::1]x", "127.0.0.2", "localhost:80:evil", "]", ":"}) {
        request.host = host;
        EXPECT_EQ(answer(request, fresh_host()).status, 421) << host;
        request.over_tcp = false;
        EXPECT_EQ(answer(request, fresh_host()).status, 200) << host;
        request.over_tcp = true;
    }
}

TEST(Routes, ThePageLoadsNothingFromOtherOrigins) {
    for (const char* path : {"/", "/style.css", "/page.js"}) {
        const std::string body = answer(get(path), fresh_host()).body;
        EXPECT_GT(body.size(), 500U) << path;
        EXPECT_EQ(body.find("innerHTML"), std::string::npos) << path;
        EXPECT_EQ(body.find("src=\"http"), std::string::npos) << path;
        EXPECT_EQ(body.find("url("), std::string::npos) << path;
    }
}

}  // namespace
}  // namespace kubexm::api
