#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "daemon/kube/api.hpp"
#include "daemon/kube/http_api.hpp"
#include "tests/unit/daemon/kube/https_server.hpp"
#include "tests/unit/daemon/loop/running_loop.hpp"

namespace kubexm::kube {

inline constexpr std::string_view kToken = "abcdef.0123456789abcdef";
constexpr std::chrono::seconds kDeadlineOfTests(20);  // reached only in a failure

template <typename T>
T wait_for(std::future<T> future) {
    if (future.wait_for(kDeadlineOfTests) != std::future_status::ready) {
        throw std::runtime_error("what must happen did not happen");
    }
    return future.get();
}

/// A loop on its own thread, a CA for servers, and credentials for them.
class ApiTest : public testing::Test {
protected:
    using Json = nlohmann::json;

    void SetUp() override {
        thread_ = std::thread([this] { EXPECT_EQ(must(loop_.run()), 0); });
    }
    void TearDown() override {
        loop_.stop(0);
        thread_.join();
    }

    /// Runs on the loop's thread and waits for the end.
    void on_loop(const std::function<void()>& what) {
        std::promise<void> done;
        loop_.post([&] {
            what();
            done.set_value();
        });
        wait_for(done.get_future());
    }
    ClusterCredentials access(const HttpsServer& server) const {
        ClusterCredentials access{.server = server.url(), .ca = authority_.certificate()};
        access.token = Secret(std::string(kToken));
        return access;
    }
    /// An Api that is destroyed on the loop's thread.
    std::shared_ptr<Api> api(ClusterCredentials to,
                             std::chrono::milliseconds deadline = kDeadline) {
        return {must(make_api(loop_, std::move(to), deadline)).release(), [this](Api* made) {
                    on_loop([made] { delete made; });  // NOLINT(cppcoreguidelines-owning-memory)
                }};
    }
    Answer<Json> ask(const std::function<Api::Handle(Api::Callback)>& begin) {
        std::promise<Answer<Json>> answered;
        Api::Handle handle;
        on_loop([&] {
            handle = begin([&](Answer<Json> answer) { answered.set_value(std::move(answer)); });
        });
        auto answer = wait_for(answered.get_future());
        on_loop([&] { handle.reset(); });
        return answer;
    }
    Answer<Json> get(Api& from, const std::string& path = "/version") {
        return ask([&](Api::Callback callback) { return from.get(path, std::move(callback)); });
    }

    TestAuthority authority_;
    Loop loop_ = make_loop();
    std::thread thread_;
};

}  // namespace kubexm::kube
