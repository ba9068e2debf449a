#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "tests/unit/daemon/kube/api_fixture.hpp"
#include "tests/unit/thread_status.hpp"

namespace kubexm::kube {
namespace {

using namespace std::chrono_literals;

class ApiAtRest : public ApiTest {
protected:
    void SetUp() override {
        ApiTest::SetUp();
        on_loop([this] { thread_id_ = ::gettid(); });
    }
    long wakeups() const { return sleeps_of(thread_id_); }
    /// Waits until the loop is idle.
    void settle() const {
        const auto deadline = std::chrono::steady_clock::now() + kDeadlineOfTests;
        for (long before = -1; std::chrono::steady_clock::now() < deadline;) {
            const long now = wakeups();
            if (now == before && thread_status(thread_id_, "State").starts_with("S")) return;
            before = now;
            std::this_thread::sleep_for(300ms);  // curl tries another address after 200 ms
        }
        FAIL() << "the loop does not come to rest";
    }

    pid_t thread_id_ = 0;
};

TEST_F(ApiAtRest, DoesNotWakeUp) {
    std::promise<void> streaming;
    const HttpsServer server(authority_, [](const Seen& seen, Connection& connection) {
        if (seen.path != "/watch") return connection.answer(200, "{}");
        connection.begin_chunks();
        connection.wait_for_the_client_to_go();
    });
    const auto client = api(access(server));
    ASSERT_TRUE(get(*client));  // leaves a connection that waits for its next request
    Api::Handle handle;
    on_loop([&] {
        handle = client->stream(
            "/watch", 600s, [&](std::string_view) { streaming.set_value(); },
            [](const Answer<void>&) {});
    });
    wait_for(streaming.get_future());
    settle();
    const long before = wakeups();
    std::this_thread::sleep_for(1500ms);  // nothing must happen in this time
    EXPECT_EQ(wakeups() - before, 0);
    on_loop([&] { handle.reset(); });
}

}  // namespace
}  // namespace kubexm::kube
