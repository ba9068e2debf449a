#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "tests/unit/daemon/kube/api_fixture.hpp"
#include "tests/unit/thread_status.hpp"

namespace kubexm::kube {
namespace {

using namespace std::chrono_literals;

/// An Api at rest: with a connection that waits for its next request, and a stream.
class ApiAtRest : public ApiTest {
protected:
    void SetUp() override {
        ApiTest::SetUp();
        on_loop([this] { thread_id_ = ::gettid(); });
        ASSERT_TRUE(get(*client_));
        std::promise<void> streaming;
        on_loop([&] {
            stream_ = client_->stream(
                "/watch", 600s, [&](std::string_view) { streaming.set_value(); },
                [](const Answer<void>&) {});
        });
        wait_for(streaming.get_future());
        settle();
    }
    void TearDown() override {
        on_loop([this] { stream_.reset(); });
        client_.reset();
        ApiTest::TearDown();
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

private:
    HttpsServer server_{authority_, [](const Seen& seen, Connection& connection) {
                            if (seen.path != "/watch") return connection.answer(200, "{}");
                            connection.begin_chunks();
                            connection.wait_for_the_client_to_go();
                        }};
    std::shared_ptr<Api> client_ = api(access(server_));
    Api::Handle stream_;
};

TEST_F(ApiAtRest, DoesNotWakeUp) {
    const long before = wakeups();
    std::this_thread::sleep_for(1500ms);  // a measurement over this period
    EXPECT_EQ(wakeups() - before, 0);
}

TEST_F(ApiAtRest, TheTestSeesATick) {
    Loop::Handle timer;
    std::function<void()> tick = [&] { timer = must(loop_.after(20ms, tick)); };
    const long before = wakeups();
    on_loop(tick);
    const auto deadline = std::chrono::steady_clock::now() + kDeadlineOfTests;
    while (wakeups() <= before + 3 && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::sleep_for(20ms);
    }
    EXPECT_GT(wakeups(), before + 3);
    on_loop([&] { timer.reset(); });
}

}  // namespace
}  // namespace kubexm::kube
