#include "daemon/cli/root_release.hpp"

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <unistd.h>

#include <map>
#include <thread>

#include "daemon/base/unix_address.hpp"
#include "daemon/cli/exit_code.hpp"
#include "daemon/cli/operations.hpp"
#include "daemon/executor/wire/channel.hpp"
#include "tests/unit/daemon/cli/kubexmctl.hpp"
#include "tests/unit/temp_directory.hpp"

// `kubexmctl leave` where kubexmd does not answer.

namespace kubexm::cli {
namespace {

using model::PlanState;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

wire::ObservedOwner owner_with(const std::string& name, std::uint32_t objects) {
    return {name, objects, {}, {}};
}

/// An executor that undoes what it is asked to, for one client after the other.
class UndoingExecutor {
public:
    UndoingExecutor(const std::string& path, std::vector<wire::ObservedOwner> owners)
        : observation_{{}, std::move(owners), "", {}} {
        socket_ = Fd{::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)};
        auto address = unix_address(path).value();
        EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
        EXPECT_EQ(::listen(socket_.get(), 4), 0);
        thread_ = std::jthread([this] { serve(); });
    }
    ~UndoingExecutor() { end(); }
    UndoingExecutor(const UndoingExecutor&) = delete;
    UndoingExecutor& operator=(const UndoingExecutor&) = delete;

    /// Ends it; returns the owners whose objects it undid.
    std::vector<std::string> end() {
        ::shutdown(socket_.get(), SHUT_RDWR);
        if (thread_.joinable()) thread_.join();
        return undone_;
    }

    std::map<std::string, std::vector<model::Remaining>> stays;  // by owner

private:
    void serve() {
        for (;;) {
            Fd client{::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC)};
            if (!client) return;
            serve(wire::Channel(std::move(client)));
        }
    }
    void serve(wire::Channel client) {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        for (;;) {
            const auto frame = client.receive(deadline);
            if (!frame) return;
            const auto [id, request] = wire::unpack_request(frame->text);
            const auto replies = answer(*request);
            for (std::size_t i = 0; i < replies.size(); ++i) {
                const auto part = i + 1 == replies.size() ? wire::Part::last : wire::Part::more;
                EXPECT_TRUE(client.send(pack(id, replies[i], part), {}, deadline));
            }
        }
    }
    std::vector<wire::Reply> answer(const wire::Request& request) {
        if (std::holds_alternative<wire::Hello>(request)) {
            return {wire::Hello{wire::kProtocol, "executor"}};
        }
        if (const auto* undo = std::get_if<wire::Undo>(&request)) {
            undone_.push_back(undo->owner);
            return {wire::Accepted{undo->plan_id}};
        }
        if (const auto* follow = std::get_if<wire::Follow>(&request)) {
            return {step_of(follow->plan_id), end_of(follow->plan_id)};
        }
        return {observation_};
    }
    wire::Reply step_of(const std::string& plan) const {
        return wire::StepEvent{plan, 0, model::StepState::done, "restore of " + undone_.back(), ""};
    }
    wire::Reply end_of(const std::string& plan) {
        wire::PlanSummary end;
        end.plan_id = plan;
        end.stays = stays[undone_.back()];
        end.state = end.stays.empty() ? PlanState::undone : PlanState::failed;
        return end;
    }

    wire::Observation observation_;
    Fd socket_;
    std::vector<std::string> undone_;
    std::jthread thread_;
};

class LeaveWithoutKubexmd : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override {
        if (::geteuid() != 0) GTEST_SKIP() << "the executor must be a process of root";
    }
    Outcome leave() const {
        return kubexmctl("--control-socket " + (directory_ / "c") + " --socket " + executor() +
                         " " + GetParam());
    }
    std::string executor() const { return directory_ / "e"; }

    TempDirectory directory_;
};

TEST_P(LeaveWithoutKubexmd, RestoresTheHostAndSaysWhatIsLeft) {
    UndoingExecutor root(executor(), {owner_with("machine-1", 3), owner_with("mine", 2),
                                      owner_with("machine-2", 1)});
    const auto outcome = leave();
    EXPECT_EQ(outcome.code, kDone);
    EXPECT_THAT(root.end(), ElementsAre("machine-1", "machine-2"));
    EXPECT_THAT(
        outcome.text,
        AllOf(HasSubstr("done     restore of machine-1\n"),
              HasSubstr("done     restore of machine-2\n"), HasSubstr("This host is released."),
              HasSubstr("until kubexmctl resume or new orders. The Node stays in the cluster")));
}

TEST_P(LeaveWithoutKubexmd, FailsWhereSomethingHarmsTheNextJoinAndUndoesTheRest) {
    UndoingExecutor root(executor(), {owner_with("machine-1", 3), owner_with("machine-2", 1)});
    root.stays["machine-1"] = {{"mount /x", "it is in use", true}};
    const auto outcome = leave();
    EXPECT_EQ(outcome.code, kFailed);
    EXPECT_THAT(root.end(), ElementsAre("machine-1", "machine-2"));
    EXPECT_THAT(outcome.text, AllOf(HasSubstr("stays: mount /x: it is in use\n"),
                                    HasSubstr("This host is not released: ")));
}

TEST_P(LeaveWithoutKubexmd, IsDoneWhereWhatStaysIsHarmless) {
    UndoingExecutor root(executor(), {owner_with("machine-1", 3)});
    root.stays["machine-1"] = {{"file /x", "somebody changed it", false}};
    EXPECT_EQ(leave().code, kDone);
}

TEST_P(LeaveWithoutKubexmd, IsNotDonePastAKubexmdThatIsSilent) {
    UndoingExecutor root(executor(), {owner_with("machine-1", 3)});
    const Fd silent{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    auto address = unix_address(directory_ / "c").value();
    ASSERT_EQ(::bind(silent.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    ASSERT_EQ(::listen(silent.get(), 4), 0);
    const OperationSockets sockets{
        .control = directory_ / "c", .executor = executor(), .patience = std::chrono::seconds(1)};
    const auto left = GetParam() == std::string("leave")
                          ? cli::leave(sockets)
                          : operate(sockets, {.verb = model::Verb::leave});
    ASSERT_FALSE(left);
    EXPECT_EQ(exit_code_of(left.error()), kUnreachable);
    EXPECT_THAT(left.error().what,
                AllOf(HasSubstr("kubexmd does not answer; try again or see journalctl"),
                      HasSubstr("may still take effect"), HasSubstr("systemctl stop kubexmd")));
    EXPECT_THAT(root.end(), IsEmpty());
}

TEST_P(LeaveWithoutKubexmd, HasNothingToDoWithoutANode) {
    UndoingExecutor root(executor(), {owner_with("mine", 2), owner_with("machine-1", 0)});
    const auto outcome = leave();
    EXPECT_EQ(outcome.code, kDone);
    EXPECT_THAT(root.end(), IsEmpty());
    EXPECT_THAT(outcome.text, AllOf(HasSubstr("nothing to leave\n"), Not(HasSubstr("cluster"))));
}

TEST_P(LeaveWithoutKubexmd, NeedsTheExecutor) {
    const auto outcome = leave();
    EXPECT_EQ(outcome.code, kUnreachable);
    EXPECT_THAT(outcome.text, AllOf(HasSubstr("systemctl restart kubexmd"),
                                    HasSubstr("connecting to the executor")));
}

INSTANTIATE_TEST_SUITE_P(Words, LeaveWithoutKubexmd, testing::Values("leave", "leave --no-wait"));

TEST(Nodes, IncludeOneWhosePlanHasNoObjectsYet) {
    wire::Outcome join;
    join.state = PlanState::running;
    wire::ObservedOwner joining = owner_with("machine-1", 0);
    joining.outcomes = {join};
    wire::ObservedOwner left = owner_with("machine-2", 0);
    join.state = PlanState::undone;
    left.outcomes = {join};
    EXPECT_THAT(nodes_in({{}, {joining, left, owner_with("root", 5)}, "", {}}),
                ElementsAre("machine-1"));
}

}  // namespace
}  // namespace kubexm::cli
