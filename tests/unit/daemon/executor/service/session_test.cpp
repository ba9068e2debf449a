#include "daemon/executor/service/session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>

#include "service_host.hpp"

namespace kubexm::executor {
namespace {

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

/// A session with a client that sends through its end of the connection.
class SessionTest : public testing::Test {
protected:
    SessionTest() {
        const auto on_request = [this](Session&, std::uint32_t id, const wire::Request&,
                                       const std::vector<Fd>&) {
            asked_.push_back(id);
            loop_.stop(0);
        };
        const auto on_close = [this](Session&, const Error& why) {
            closed_.push_back(why.what);
            loop_.stop(0);
        };
        EXPECT_TRUE(session_.start(on_request, on_close));
    }

    /// Until the session has read it.
    void ask(std::string_view frame) {
        EXPECT_TRUE(client_.send(frame, {}, soon()));
        EXPECT_EQ(run(loop_), 0);
    }
    wire::NumberedReply received() {
        return must(wire::unpack_reply(must(client_.receive(soon())).text));
    }

    Ends ends_;
    Loop loop_ = make_loop();
    wire::Channel client_{std::move(ends_.theirs)};
    std::vector<std::uint32_t> asked_;
    std::vector<std::string> closed_;
    Session session_{loop_, wire::Channel(std::move(ends_.ours)), {}, 1};
};

TEST_F(SessionTest, CutsAnOversizedReplyAndKeepsTheRequest) {
    ask(pack(5, wire::Observe{}));
    EXPECT_TRUE(session_.find(5) != nullptr);
    session_.send(5,
                  wire::JournalState{
                      .file = "", .damage = std::vector<std::string>(100, std::string(4000, 'x'))},
                  kMore);
    const auto reply = received();
    const auto& state = std::get<wire::JournalState>(reply.reply);
    EXPECT_EQ(reply.id, 5U);
    EXPECT_EQ(reply.part, kMore);
    EXPECT_THAT(state.damage, testing::SizeIs(testing::AllOf(testing::Gt(40U), testing::Lt(100U))));
    EXPECT_TRUE(session_.find(5) != nullptr);
    EXPECT_THAT(closed_, testing::IsEmpty());
}

}  // namespace
}  // namespace kubexm::executor
