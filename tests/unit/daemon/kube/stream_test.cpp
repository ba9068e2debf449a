#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include "daemon/kube/line_buffer.hpp"
#include "tests/unit/daemon/kube/api_fixture.hpp"

namespace kubexm::kube {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

class ApiStream : public ApiTest {
protected:
    struct Streamed {
        std::vector<std::string> lines;
        Answer<void> end;
    };

    Streamed stream(HttpsServer::Handler handler, std::chrono::seconds limit = kDeadlineOfTests) {
        const HttpsServer server(authority_, std::move(handler));
        const auto client = api(access(server));
        std::promise<Answer<void>> ended;
        Streamed got;
        Api::Handle handle;
        on_loop([&] {
            handle = client->stream(
                "/watch", limit, [&](std::string_view line) { got.lines.emplace_back(line); },
                [&](Answer<void> end) { ended.set_value(std::move(end)); });
        });
        got.end = wait_for(ended.get_future());
        on_loop([&] { handle.reset(); });
        return got;
    }
};

TEST_F(ApiStream, IsSplitIntoLines) {
    const auto got = stream([](const Seen&, Connection& connection) {
        connection.begin_chunks();
        connection.chunk("one\ntwo\n\nth");
        connection.chunk("r");
        connection.chunk("ee\nlast");
        connection.chunk("");
    });
    EXPECT_TRUE(got.end);
    EXPECT_THAT(got.lines, ElementsAre("", "one", "two", "", "three"));
}

TEST_F(ApiStream, MayComeByteByByte) {
    const auto got = stream([](const Seen&, Connection& connection) {
        connection.begin_chunks();
        for (const char byte : std::string("ab\ncd\n")) connection.chunk({&byte, 1});
        connection.chunk("");
    });
    EXPECT_THAT(got.lines, ElementsAre("", "ab", "cd"));
}

TEST_F(ApiStream, BeginsWithAnEmptyLine) {
    std::promise<void> begun;
    const HttpsServer server(authority_, [](const Seen&, Connection& connection) {
        connection.begin_chunks();
        connection.wait_for_the_client_to_go();
    });
    const auto client = api(access(server));
    Api::Handle handle;
    on_loop([&] {
        handle = client->stream(
            "/", kDeadlineOfTests,
            [&](std::string_view line) {
                if (line.empty()) begun.set_value();
            },
            [](const Answer<void>&) {});
    });
    wait_for(begun.get_future());
    on_loop([&] { handle.reset(); });
}

TEST_F(ApiStream, ThatEndsEarlyIsUnavailable) {
    const auto got = stream([](const Seen&, Connection& connection) {
        connection.begin_chunks();
        connection.chunk("one\ntw");
        connection.close();
    });
    ASSERT_FALSE(got.end);
    EXPECT_EQ(got.end.error().error.code, Code::unavailable);
    EXPECT_THAT(got.lines, ElementsAre("", "one"));
}

TEST_F(ApiStream, HasALimitInTime) {
    const auto got = stream(
        [](const Seen&, Connection& connection) {
            connection.begin_chunks();
            connection.chunk("one\n");
            connection.wait_for_the_client_to_go();
        },
        5s);  // enough for a busy machine to connect in
    ASSERT_FALSE(got.end);
    EXPECT_EQ(got.end.error().error.code, Code::timeout);
    EXPECT_THAT(got.lines, ElementsAre("", "one"));
}

TEST_F(ApiStream, HasALimitForALine) {
    const std::string megabyte(std::size_t{1} << 20U, 'x');
    std::atomic<int> taken = 0;
    const auto got = stream([&](const Seen&, Connection& connection) {
        connection.begin_chunks();
        for (; taken < 50 && !connection.is_closed(); ++taken) connection.chunk(megabyte);
    });
    ASSERT_FALSE(got.end);
    EXPECT_EQ(got.end.error().error.code, Code::invalid);
    EXPECT_THAT(got.end.error().error.what, HasSubstr("a line of at most 16 MiB"));
    EXPECT_LT(taken, 40) << "what is beyond the limit is not even read";
}

TEST_F(ApiStream, ThatIsRefusedHasNoLines) {
    const auto got = stream([](const Seen&, Connection& connection) {
        connection.answer(403, "{\"reason\":\"Forbidden\",\n\"message\":\"no\"}\n",
                          "Retry-After: 3\r\n");
    });
    ASSERT_FALSE(got.end);
    EXPECT_EQ(got.end.error().reason, "Forbidden");
    EXPECT_EQ(got.end.error().retry_after, 3s);
    EXPECT_TRUE(got.lines.empty());
}

TEST_F(ApiStream, MayBeDestroyedInACallback) {
    std::promise<void> gone;
    const HttpsServer server(authority_, [&](const Seen&, Connection& connection) {
        connection.begin_chunks();
        connection.chunk("one\ntwo\nthree\n");
        connection.wait_for_the_client_to_go();
        gone.set_value();
    });
    const auto client = api(access(server));
    std::vector<std::string> lines;
    Api::Handle handle;
    on_loop([&] {
        handle = client->stream(
            "/", kDeadlineOfTests,
            [&](std::string_view line) {
                lines.emplace_back(line);
                if (line == "two") handle.reset();
            },
            [](const Answer<void>&) { ADD_FAILURE() << "a dropped stream has no end"; });
    });
    wait_for(gone.get_future());
    on_loop([] {});
    EXPECT_THAT(lines, ElementsAre("", "one", "two"));
}

TEST_F(ApiStream, TakesAnIdleConnectionForItself) {
    std::promise<void> streaming;
    const HttpsServer server(authority_, [&](const Seen& seen, Connection& connection) {
        if (seen.path != "/watch") return connection.answer(200, "{}");
        connection.begin_chunks();
        streaming.set_value();
        connection.wait_for_the_client_to_go();
    });
    const auto client = api(access(server));
    ASSERT_TRUE(get(*client));
    Api::Handle handle;
    on_loop([&] {
        handle = client->stream(
            "/watch", kDeadlineOfTests, [](std::string_view) {}, [](const Answer<void>&) {});
    });
    wait_for(streaming.get_future());
    ASSERT_TRUE(get(*client));
    on_loop([&] { handle.reset(); });
    const auto seen = server.seen();
    ASSERT_EQ(seen.size(), 3U);
    EXPECT_EQ(seen[0].connection, seen[1].connection);
    EXPECT_NE(seen[1].connection, seen[2].connection);
}

TEST(LineBuffer, HasAnExactLimit) {
    LineBuffer fits(4);
    EXPECT_TRUE(fits.append("1234"));
    EXPECT_EQ(fits.next(), std::nullopt);
    EXPECT_TRUE(fits.append("\n1234\n12"));
    EXPECT_EQ(fits.next(), "1234");
    EXPECT_EQ(fits.next(), "1234");
    EXPECT_EQ(fits.next(), std::nullopt);
    EXPECT_TRUE(fits.append("34\n"));
    EXPECT_EQ(fits.next(), "1234");

    EXPECT_FALSE(LineBuffer(4).append("12345"));
    EXPECT_FALSE(LineBuffer(4).append("12345\n"));
    EXPECT_FALSE(LineBuffer(4).append("1\n12345"));
}

}  // namespace
}  // namespace kubexm::kube
