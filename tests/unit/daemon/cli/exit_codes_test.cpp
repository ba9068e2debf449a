#include <gmock/gmock.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "daemon/base/unix_address.hpp"
#include "daemon/cli/exit_code.hpp"
#include "daemon/executor/wire/channel.hpp"
#include "daemon/executor/wire/messages.hpp"
#include "tests/unit/daemon/cli/kubexmctl.hpp"
#include "tests/unit/temp_directory.hpp"

namespace kubexm::cli {
namespace {

using model::PlanState;
using testing::HasSubstr;

/// kubexmctl and an executor that gives one answer.
class AnswerOfTheExecutor : public testing::Test {
protected:
    AnswerOfTheExecutor() : listener_(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)) {
        const sockaddr_un address = unix_address(path()).value();
        const auto* generic = reinterpret_cast<const sockaddr*>(&address);
        EXPECT_EQ(::bind(listener_.get(), generic, sizeof(address)), 0);
        EXPECT_EQ(::listen(listener_.get(), 1), 0);
    }
    void SetUp() override {
        if (::getuid() != 0) GTEST_SKIP() << "the executor is root's";
    }
    std::string path() const { return directory_ / "socket"; }

    Outcome run(const std::string& words, const wire::Reply& answer) {
        std::jthread executor([&] { serve(answer); });
        return kubexmctl("--socket " + path() + " " + words);
    }
    static wire::PlanSummary ended(PlanState state) {
        wire::PlanSummary summary;
        summary.plan_id = "p1";
        summary.state = state;
        return summary;
    }

private:
    void serve(const wire::Reply& answer) const {
        wire::Channel channel(Fd{::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)});
        reply(channel, wire::Hello{wire::kProtocol, "a test"});
        reply(channel, answer);
    }
    static void reply(wire::Channel& channel, const wire::Reply& answer) {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
        const auto frame = channel.receive(deadline);
        ASSERT_TRUE(frame) << frame.error().what;
        const std::uint32_t id = wire::unpack_request(frame->text).id;
        EXPECT_TRUE(channel.send(pack(id, answer, wire::Part::last), {}, deadline));
    }

    TempDirectory directory_;
    Fd listener_;
};

TEST_F(AnswerOfTheExecutor, IsTheEndOfThePlanThatIsFollowed) {
    EXPECT_EQ(run("follow p1", ended(PlanState::done)).code, kDone);
    EXPECT_EQ(run("follow p1", ended(PlanState::undone)).code, kDone);
    for (const PlanState state : {PlanState::failed, PlanState::cancelled, PlanState::running}) {
        const auto outcome = run("follow p1", ended(state));
        EXPECT_EQ(outcome.code, kFailed) << outcome.text;
        EXPECT_THAT(outcome.text, HasSubstr("plan p1: " + std::string(name_of(state))));
    }
}

TEST_F(AnswerOfTheExecutor, MayBeARefusal) {
    for (const Code code : {Code::invalid, Code::not_found, Code::conflict, Code::denied,
                            Code::exhausted, Code::corrupt}) {
        const wire::Refused refused{std::string(name_of(code)), "too many plans are queued"};
        const auto outcome = run("undo machine-1", refused);
        EXPECT_EQ(outcome.code, kRefused) << name_of(code);
        EXPECT_EQ(outcome.text, "kubexmctl: too many plans are queued\n");
    }
    const wire::Refused later{"unavailable", "systemd does not answer"};
    EXPECT_EQ(run("undo machine-1", later).code, kUnreachable);
}

}  // namespace
}  // namespace kubexm::cli
