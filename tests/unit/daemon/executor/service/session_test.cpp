#include "daemon/executor/service/session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>

#include "tests/unit/daemon/loop/running_loop.hpp"

namespace kubexm::executor {
namespace {

using testing::HasSubstr;

wire::Channel::Deadline soon() { return std::chrono::steady_clock::now() + kDeadline; }

/// The two ends of a connection.
struct Ends {
    Ends() {
        std::array<int, 2> pair{-1, -1};
        if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair.data()) != 0) std::abort();
        ours.reset(pair[0]);
        theirs.reset(pair[1]);
    }
    Fd ours;
    Fd theirs;
};

TEST(Session, RefusesAnOversizedReplyAndContinues) {
    Loop loop = make_loop();
    Ends ends;
    Session session(loop, wire::Channel(std::move(ends.ours)), {}, 1);
    const auto ignore_request = [](Session&, const wire::Request&, const std::vector<Fd>&) {};
    ASSERT_TRUE(session.start(ignore_request,
                              [](Session&, const Error& why) { ADD_FAILURE() << why.what; }));
    session.send(wire::JournalState{
        .file = "", .damage = std::vector<std::string>(100, std::string(4000, 'x'))});
    session.send(wire::End{});
    wire::Channel client(std::move(ends.theirs));
    const auto first = wire::unpack_reply(must(client.receive(soon())).text);
    ASSERT_TRUE(first);
    const auto& refused = std::get<wire::Refused>(*first);
    EXPECT_EQ(refused.code, "exhausted");
    EXPECT_THAT(refused.what, HasSubstr("at most 196608 bytes"));
    const auto second = wire::unpack_reply(must(client.receive(soon())).text);
    EXPECT_TRUE(second && std::holds_alternative<wire::End>(*second));
}

}  // namespace
}  // namespace kubexm::executor
