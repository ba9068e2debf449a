#include "daemon/kube/watch.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tests/unit/daemon/kube/api_fixture.hpp"

namespace kubexm::kube {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::MatchesRegex;

std::string object(const std::string& name, int version, int value) {
    return fmt::format(R"({{"metadata":{{"name":"{}","resourceVersion":"{}"}},"value":{}}})", name,
                       version, value);
}
std::string list(int version, const std::string& items) {
    return fmt::format(R"({{"metadata":{{"resourceVersion":"{}"}},"items":[{}]}})", version, items);
}
std::string event(const std::string& type, const std::string& what) {
    return fmt::format(R"({{"type":"{}","object":{}}})", type, what) + "\n";
}
const std::string kExpired = R"({"kind":"Status","code":410,"reason":"Expired","message":"old"})";

using Reply = std::function<void(Connection&)>;

Reply with(int status, const std::string& body, const std::string& headers = "") {
    return [=](Connection& connection) { connection.answer(status, body, headers); };
}
/// A watch that stays open after these bytes.
Reply watching(const std::string& bytes) {
    return [=](Connection& connection) {
        connection.begin_chunks();
        if (!bytes.empty()) connection.chunk(bytes);
        connection.wait_for_the_client_to_go();
    };
}
/// A watch that the server ends after these bytes.
Reply ending(const std::string& bytes) {
    return [=](Connection& connection) {
        connection.begin_chunks();
        if (!bytes.empty()) connection.chunk(bytes);
        connection.chunk("");
    };
}

/// Values and states in the order of the callbacks: "1", "null", "ok", "unavailable".
class Notifications {
public:
    void add(std::string what) {
        const std::lock_guard lock(mutex_);
        all_.push_back(std::move(what));
        changed_.notify_all();
    }
    std::vector<std::string> wait_for(std::size_t count) {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, kDeadlineOfTests, [&] { return all_.size() >= count; });
        return all_;
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::string> all_;
};

class WatchTest : public ApiTest {
protected:
    void TearDown() override {
        on_loop([this] { watch_.reset(); });
        client_.reset();
        ApiTest::TearDown();
    }
    /// One reply per request; the last one is repeated.
    void begin(std::vector<Reply> replies, const WatchLimits& limits = {}, const Json& known = {}) {
        replies_ = std::move(replies);
        server_ =
            std::make_unique<HttpsServer>(authority_, [this](const Seen&, Connection& connection) {
                const std::size_t number = next_++;
                replies_.at(std::min(number, replies_.size() - 1))(connection);
            });
        client_ = api(access(*server_));
        on_loop([&] {
            watch_ = std::make_unique<Watch>(
                loop_, *client_, [] { return 0.5; }, "/api/v1/nodes", "h1", listener(), limits);
            if (known.is_null()) return watch_->start();
            watch_->start_after(known);
        });
    }
    virtual Watch::Listener listener() {
        return {.on_object =
                    [this](const Json& now) {
                        seen_.add(now.is_null() ? "null" : now.at("value").dump());
                    },
                .on_change =
                    [this](const Answer<void>& state) {
                        seen_.add(state ? "ok" : std::string(name_of(state.error().error.code)));
                    }};
    }
    /// Waits for so many requests and describes them: "list", "watch 5".
    std::vector<std::string> requests(std::size_t count) {
        const auto deadline = std::chrono::steady_clock::now() + kDeadlineOfTests;
        while (server_->seen().size() < count && std::chrono::steady_clock::now() < deadline) {
            std::this_thread::sleep_for(5ms);  // the server has nothing to wait on
        }
        std::vector<std::string> all;
        for (const Seen& seen : server_->seen()) {
            const auto at = seen.path.find("&resourceVersion=");
            const bool is_watch = seen.path.find("&watch=true") != std::string::npos;
            all.push_back((is_watch ? "watch" : "list") +
                          (at == std::string::npos ? "" : " " + seen.path.substr(at + 17)));
        }
        return all;
    }
    std::chrono::steady_clock::duration between(std::size_t first, std::size_t second) {
        const auto seen = server_->seen();
        return seen.at(second).at - seen.at(first).at;
    }

    std::atomic<std::size_t> next_ = 0;
    std::vector<Reply> replies_;
    Notifications seen_;
    std::unique_ptr<HttpsServer> server_;
    std::shared_ptr<Api> client_;
    std::unique_ptr<Watch> watch_;
};

TEST_F(WatchTest, ReportsTheObjectAndItsChanges) {
    begin({with(200, list(5, object("h1", 3, 1))),
           watching(event("MODIFIED", object("h1", 6, 2)) + event("DELETED", object("h1", 7, 2)) +
                    event("ADDED", object("h1", 8, 3)))});
    EXPECT_THAT(seen_.wait_for(5), ElementsAre("ok", "1", "2", "null", "3"));
}

TEST_F(WatchTest, BeginsAtAnObjectThatIsKnown) {
    begin({watching(event("MODIFIED", object("h1", 6, 2)))}, {}, Json::parse(object("h1", 5, 1)));
    EXPECT_THAT(seen_.wait_for(3), ElementsAre("1", "ok", "2"));
    EXPECT_THAT(requests(1), ElementsAre("watch 5"));
}

TEST_F(WatchTest, ListsWhereTheKnownObjectIsTooOld) {
    begin({with(410, kExpired), with(200, list(20, object("h1", 19, 2))), watching("")}, {},
          Json::parse(object("h1", 5, 1)));
    EXPECT_THAT(requests(3), ElementsAre("watch 5", "list 5", "watch 20"));
}

TEST_F(WatchTest, ListsAgainWhenBookmarksStop) {
    begin({with(200, list(5, object("h1", 3, 1))), watching(event("BOOKMARK", object("", 9, 0))),
           with(200, list(12, object("h1", 11, 2))), watching("")},
          {.most_silence = 50ms});
    EXPECT_THAT(requests(4), ElementsAre("list", "watch 5", "list 9", "watch 12"));
    EXPECT_THAT(seen_.wait_for(3), ElementsAre("ok", "1", "2"));
}

TEST_F(WatchTest, ListsAgainWhenItIsNotAnswered) {
    begin({with(200, list(5, object("h1", 3, 1))),
           [](Connection& connection) { connection.wait_for_the_client_to_go(); },
           with(200, list(12, object("h1", 11, 2))), watching("")},
          {.most_silence = 50ms});
    EXPECT_THAT(requests(4), ElementsAre("list", "watch 5", "list 5", "watch 12"));
    EXPECT_THAT(seen_.wait_for(3), ElementsAre("ok", "1", "2"));
}

TEST_F(WatchTest, ListsOnceMoreWhereTheFirstBookmarkDoesNotCome) {
    begin({with(200, list(5, object("h1", 3, 1))), watching(""),
           with(200, list(7, object("h1", 6, 2))),
           [](Connection& connection) {
               connection.begin_chunks();
               std::this_thread::sleep_for(400ms);  // twice the silence of a server with bookmarks
               connection.chunk(event("MODIFIED", object("h1", 8, 3)));
               connection.wait_for_the_client_to_go();
           }},
          {.most_silence = 200ms});
    EXPECT_THAT(seen_.wait_for(4), ElementsAre("ok", "1", "2", "3"));
    EXPECT_THAT(requests(4), ElementsAre("list", "watch 5", "list 5", "watch 7"));
}

TEST_F(WatchTest, ExpectsBookmarksOfAServerThatSentThemInAnEarlierWatch) {
    begin({with(200, list(5, object("h1", 3, 1))),
           [](Connection& connection) {
               connection.begin_chunks();
               connection.chunk(event("BOOKMARK", object("", 9, 0)));
               connection.chunk("");
           },
           watching(""), with(200, list(12, object("h1", 11, 2))), watching("")},
          {.most_silence = 600ms, .shortest = 0ms});
    EXPECT_THAT(requests(5), ElementsAre("list", "watch 5", "watch 9", "list 9", "watch 12"));
}

TEST_F(WatchTest, SelectsOneObjectByName) {
    begin({with(200, list(5, "")), watching("")});
    requests(2);
    const auto seen = server_->seen();
    ASSERT_EQ(seen.size(), 2U);
    EXPECT_EQ(seen[0].path, "/api/v1/nodes?fieldSelector=metadata.name%3Dh1");
    EXPECT_THAT(seen[1].path,
                MatchesRegex("/api/v1/nodes\\?fieldSelector=metadata\\.name%3Dh1&watch=true"
                             "&allowWatchBookmarks=true&timeoutSeconds=450&resourceVersion=5"));
    EXPECT_THAT(seen_.wait_for(2), ElementsAre("ok", "null"));
}

TEST_F(WatchTest, ResumesFromTheLastVersion) {
    begin({with(200, list(5, object("h1", 3, 1))),
           [](Connection& connection) {
               connection.begin_chunks();
               connection.chunk(event("MODIFIED", object("h1", 6, 2)) +
                                event("BOOKMARK", object("", 9, 0)));
               connection.chunk("");
           },
           watching(event("MODIFIED", object("h1", 12, 3)))},
          {.shortest = 0ms});
    EXPECT_THAT(seen_.wait_for(4), ElementsAre("ok", "1", "2", "3"));
    EXPECT_THAT(requests(3), ElementsAre("list", "watch 5", "watch 9"));
}

TEST_F(WatchTest, IgnoresOtherObjectsAndUnknownTypes) {
    begin(
        {with(200, list(5, object("h2", 3, 9) + "," + object("h1", 4, 1))),
         watching(event("MODIFIED", object("h2", 6, 7)) + event("DELETED", object("h2", 7, 7)) +
                  event("PROGRESS", R"({"x":1})") + "\n" + event("MODIFIED", object("h1", 8, 2)))});
    EXPECT_THAT(seen_.wait_for(3), ElementsAre("ok", "1", "2"));
}

TEST_F(WatchTest, ListsAgainWhenItsVersionIsTooOld) {
    begin({with(200, list(5, object("h1", 3, 1))),
           watching(event("BOOKMARK", object("", 7, 0)) + event("ERROR", kExpired)),
           with(410, kExpired), with(200, list(20, object("h1", 19, 2))), watching("")});
    EXPECT_THAT(requests(5), ElementsAre("list", "watch 5", "list 7", "list", "watch 20"));
    EXPECT_THAT(seen_.wait_for(5), ElementsAre("ok", "1", "exhausted", "ok", "2"));
}

TEST_F(WatchTest, ListsAgainWhenTheWatchIsRefusedAsTooOld) {
    begin({with(200, list(5, object("h1", 3, 1))), with(410, kExpired),
           with(200, list(20, object("h1", 3, 1))), watching("")});
    EXPECT_THAT(requests(4), ElementsAre("list", "watch 5", "list 5", "watch 20"));
    EXPECT_THAT(seen_.wait_for(4), ElementsAre("ok", "1", "exhausted", "ok"));  // "1" only once
}

TEST_F(WatchTest, DiscardsAnIncompleteLine) {
    begin({with(200, list(5, object("h1", 3, 1))),
           [](Connection& connection) {
               connection.begin_chunks();
               connection.chunk(event("MODIFIED", object("h1", 6, 2)) + R"({"type":"MODI)");
               connection.close();
           },
           with(200, list(7, object("h1", 6, 2))),
           watching(event("MODIFIED", object("h1", 8, 3)))});
    EXPECT_THAT(seen_.wait_for(6), ElementsAre("ok", "1", "2", "unavailable", "ok", "3"));
    EXPECT_THAT(requests(4), ElementsAre("list", "watch 5", "list 6", "watch 7"));
}

/// A server keeps a watch from a version that it does not have, and is silent.
TEST_F(WatchTest, ListsAfterAFailureAndFindsARestoredServer) {
    const char* too_large =
        R"({"kind":"Status","code":504,"reason":"Timeout","message":"Too large resource version"})";
    begin({with(200, list(50, object("h1", 30, 2))), with(503, "{}"), with(504, too_large),
           with(200, list(20, object("h1", 10, 1))), watching("")});
    EXPECT_THAT(requests(5), ElementsAre("list", "watch 50", "list 50", "list", "watch 20"));
    EXPECT_THAT(seen_.wait_for(5), ElementsAre("ok", "2", "unavailable", "ok", "1"));
}

TEST_F(WatchTest, AcceptsEventsByteByByte) {
    begin({with(200, list(5, "")), [](Connection& connection) {
               connection.begin_chunks();
               const std::string bytes = event("ADDED", object("h1", 6, 4));
               for (const char byte : bytes) connection.chunk({&byte, 1});
               connection.wait_for_the_client_to_go();
           }});
    EXPECT_THAT(seen_.wait_for(3), ElementsAre("ok", "null", "4"));
}

class MalformedEvent : public WatchTest, public testing::WithParamInterface<std::string> {};

TEST_P(MalformedEvent, EndsTheWatch) {
    begin({with(200, list(5, object("h1", 3, 1))), watching(GetParam()),
           with(200, list(5, object("h1", 3, 1))),
           watching(event("MODIFIED", object("h1", 8, 3)))});
    const auto seen = seen_.wait_for(5);
    ASSERT_EQ(seen.size(), 5U);
    EXPECT_EQ(seen[3], "ok");
    EXPECT_EQ(seen[4], "3");
    EXPECT_THAT(requests(4), ElementsAre("list", "watch 5", "list 5", "watch 5"));
}

INSTANTIATE_TEST_SUITE_P(Lines, MalformedEvent,
                         testing::Values("garbage\n", "[]\n", "{\"type\":\"ADDED\"}\n",
                                         event("ADDED", R"({"metadata":{}})"),
                                         event("BOOKMARK", "7"), event("ERROR", "\"x\"")));

TEST_F(WatchTest, EndsAtAnOverlongLine) {
    begin({with(200, list(5, "")),
           [](Connection& connection) {
               connection.begin_chunks();
               const std::string megabyte(std::size_t{1} << 20U, 'x');
               for (int i = 0; i < 50 && !connection.is_closed(); ++i) connection.chunk(megabyte);
           },
           with(200, list(5, "")), watching(event("ADDED", object("h1", 8, 3)))});
    EXPECT_THAT(seen_.wait_for(5), ElementsAre("ok", "null", "invalid", "ok", "3"));
}

TEST_F(WatchTest, WaitsForRetryAfter) {
    begin({with(200, list(5, object("h1", 3, 1))), with(429, "{}", "Retry-After: 3\r\n"),
           with(200, list(5, object("h1", 3, 1))),
           watching(event("MODIFIED", object("h1", 8, 3)))});
    EXPECT_THAT(seen_.wait_for(5), ElementsAre("ok", "1", "unavailable", "ok", "3"));
    EXPECT_GE(between(1, 2), 3s);
}

TEST_F(WatchTest, BacksOffWhenWatchesEndImmediately) {
    begin({with(200, list(5, object("h1", 3, 1))), ending(event("BOOKMARK", object("", 6, 0)))});
    EXPECT_THAT(requests(4), ElementsAre("list", "watch 5", "watch 6", "watch 6"));
    EXPECT_GE(between(1, 2), 800ms);
    EXPECT_GE(between(2, 3), 1600ms);
}

TEST_F(WatchTest, BacksOffWhenNoWatchLasts) {
    begin({with(200, list(5, "")), watching(event("ERROR", kExpired)), with(200, list(6, "")),
           watching(event("ERROR", kExpired)), with(200, list(7, "")), watching("")});
    EXPECT_THAT(requests(6),
                ElementsAre("list", "watch 5", "list 5", "watch 6", "list 6", "watch 7"));
    EXPECT_GE(between(1, 2), 800ms);
    EXPECT_GE(between(3, 4), 1600ms);
}

TEST_F(WatchTest, ReportsThatAQuietServerWorksAgain) {
    begin({with(500, "{}"), with(200, list(5, "")), with(503, "{}"), with(200, list(5, "")),
           watching("")});
    EXPECT_THAT(seen_.wait_for(5), ElementsAre("unavailable", "ok", "null", "unavailable", "ok"));
}

TEST_F(WatchTest, ReportsDenialOnce) {
    begin({with(401, R"({"reason":"Unauthorized"})")});
    EXPECT_THAT(seen_.wait_for(1), ElementsAre("denied"));
    EXPECT_THAT(requests(1), ElementsAre("list"));
}

TEST_F(WatchTest, RefusesAMalformedList) {
    begin({with(200, "[]"), with(200, R"({"items":{},"metadata":{"resourceVersion":"5"}})"),
           with(200, list(5, object("h1", 3, 1))), watching("")});
    EXPECT_THAT(seen_.wait_for(3), ElementsAre("invalid", "ok", "1"));
}

/// Destroys the Watch in its n-th callback.
class DroppedWatch : public WatchTest, public testing::WithParamInterface<std::size_t> {
protected:
    Watch::Listener listener() override {
        const auto count = [this] {
            if (++calls_ != GetParam()) return;
            watch_.reset();
            seen_.add("dropped");
        };
        return {.on_object = [count](const Json&) { count(); },
                .on_change = [count](const Answer<void>&) { count(); }};
    }

    std::size_t calls_ = 0;
};

TEST_P(DroppedWatch, IsSilent) {
    begin({with(200, list(5, object("h1", 3, 1))), [](Connection& connection) {
               connection.begin_chunks();
               connection.chunk(event("MODIFIED", object("h1", 6, 2)) +
                                event("MODIFIED", object("h1", 7, 3)) + event("ERROR", "{}"));
               connection.wait_for_the_client_to_go();
           }});
    EXPECT_THAT(seen_.wait_for(1), ElementsAre("dropped"));
    on_loop([] {});
    EXPECT_EQ(calls_, GetParam());
}

INSTANTIATE_TEST_SUITE_P(EachCall, DroppedWatch, testing::Range<std::size_t>(1, 6));

}  // namespace
}  // namespace kubexm::kube
