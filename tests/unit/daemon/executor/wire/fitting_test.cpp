#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "daemon/executor/wire/messages.hpp"

namespace kubexm::wire {
namespace {

using testing::Each;
using testing::Field;
using testing::IsEmpty;
using testing::SizeIs;

/// A text that takes most room: JSON writes a control character with six bytes.
std::string escaped(std::size_t bytes = 1024) { return std::string(bytes, '\x01'); }

std::vector<model::Remaining> many_remaining(std::size_t count, std::size_t bytes = 1024) {
    std::vector<model::Remaining> all(count, {escaped(bytes), escaped(bytes), false});
    all.front().blocks_join = true;
    return all;
}

/// As the other side has it.
template <typename T>
T sent(const T& reply) {
    const std::string frame = pack(UINT32_MAX, reply, Part::more);
    EXPECT_LE(frame.size(), kMaxFrame);
    auto got = unpack_reply(frame);
    EXPECT_TRUE(got) << got.error().what;
    return got ? std::get<T>(got->reply) : T{};
}

ObservedOwner owner_of(const std::string& name, std::size_t outcomes, std::size_t stays) {
    Outcome outcome{.purpose = model::PlanPurpose::release, .error = escaped(4096)};
    if (stays > 0) outcome.stays = many_remaining(stays, 520);
    return {name, 1000, std::vector(outcomes, outcome), {}};
}

TEST(Fitting, TextsAreCutAsTheReaderAcceptsThem) {
    const auto event = sent(StepEvent{.plan_id = escaped(9000),
                                      .text = std::string(4000, '\xff'),
                                      .error = std::string("a\0b", 3),
                                      .progress = escaped(9000)});
    EXPECT_THAT(event.plan_id, SizeIs(4096));
    EXPECT_THAT(event.text, testing::StartsWith("\xef\xbf\xbd"));
    EXPECT_EQ(event.error, "a b");
}

TEST(Fitting, TheSummaryOfAnUndoSaysHowManyAreNotNamed) {
    const auto end = sent(PlanSummary{.plan_id = escaped(),
                                      .hash = escaped(),
                                      .owner = escaped(),
                                      .wanted = escaped(),
                                      .error = escaped(4096),
                                      .stays = many_remaining(500),
                                      .unnamed = 7});
    EXPECT_TRUE(end.stays.front().blocks_join);
    EXPECT_EQ(end.stays.size() + end.unnamed, 507U);
    const auto small = sent(PlanSummary{.stays = many_remaining(500, 1)});
    EXPECT_THAT(small.stays, SizeIs(256)) << "a reader accepts no more";
    EXPECT_EQ(small.unnamed, 244U);
}

TEST(Fitting, AnOwnerKeepsItsDetailsWhileThereIsRoom) {
    Observation observation{.owners = {owner_of("machine-1", 1, 500)}};
    observation.owners[0].pending.assign(100, escaped(600));
    const auto got = sent(observation);
    ASSERT_THAT(got.owners, SizeIs(1));
    EXPECT_THAT(got.owners[0].pending, SizeIs(20));
    const Outcome& outcome = got.owners[0].outcomes.at(0);
    EXPECT_THAT(outcome.stays, SizeIs(20));
    EXPECT_TRUE(outcome.stays.front().blocks_join);
    EXPECT_EQ(outcome.unnamed, 480U);
}

TEST(Fitting, EveryMachineIsObserved) {
    Observation observation;
    for (int i = 0; i < 40; ++i) {
        observation.owners.push_back(owner_of(fmt::format("root-{}", i), 2, 6));
    }
    for (int i = 0; i < 10; ++i) {
        observation.owners.push_back(owner_of(fmt::format("machine-{}", i), 2, 6));
    }
    for (ObservedOwner& owner : observation.owners) owner.pending.assign(22, escaped(600));
    observation.owners[3].objects = 0;
    observation.owners[3].outcomes.clear();
    const auto got = sent(observation);
    std::size_t machines = 0;
    for (const ObservedOwner& owner : got.owners) {
        if (owner.name.starts_with("machine-")) ++machines;
        for (const Outcome& each : owner.outcomes) {
            EXPECT_EQ(each.stays.size() + each.unnamed, 6U);
            EXPECT_TRUE(each.stays.front().blocks_join) << "it decides";
        }
    }
    EXPECT_EQ(machines, 10U);
    EXPECT_EQ(got.owners.front().name, "root-0") << "the newest first";
}

TEST(Fitting, AMachineThatRootReleasedIsObservedBesideManyThatAreGone) {
    Outcome released{.purpose = model::PlanPurpose::release};
    released.uid = 990;
    released.state = model::PlanState::undone;
    Observation observation;
    for (int i = 0; i < 300; ++i) {
        observation.owners.push_back({fmt::format("machine-{}", i), 0, {released}, {}});
    }
    released.uid = 0;
    observation.owners.push_back({"machine-of-root", 0, {released}, {}});
    observation.owners.push_back({"machine-here", 3, {}, {}});
    observation.owners.push_back({"machine-begun", 0, {{.purpose = model::PlanPurpose::join}}, {}});
    std::vector<std::string> names;
    for (const ObservedOwner& owner : sent(observation).owners) names.push_back(owner.name);
    EXPECT_THAT(names, SizeIs(256));
    EXPECT_THAT(names, testing::IsSupersetOf({"machine-of-root", "machine-here", "machine-begun"}));
}

TEST(Fitting, OwnersAreAsManyAsAReaderAccepts) {
    const auto observed = [](std::size_t outcomes) {
        Observation observation;
        for (int i = 0; i < 300; ++i) {
            observation.owners.push_back(
                {fmt::format("root-{}", i), 1, std::vector<Outcome>(outcomes), {}});
        }
        return sent(observation).owners.size();
    };
    EXPECT_EQ(observed(1), 256U);
    EXPECT_GT(observed(12), 100U) << "a reader accepts so many small values, too";
}

TEST(Fitting, TheOtherListsOfAnObservationLeaveRoomForOwners) {
    Observation observation{.units = {300, {escaped(), escaped(), escaped()}},
                            .owners = {owner_of("machine-1", 12, 500)},
                            .running_plan = escaped(4096),
                            .unconfirmed = {300, {escaped(), escaped()}}};
    const auto got = sent(observation);
    EXPECT_THAT(got.owners, SizeIs(1));
    EXPECT_THAT(got.units, testing::Not(IsEmpty()));
    EXPECT_THAT(got.unconfirmed, testing::Not(IsEmpty()));
}

TEST(Fitting, EveryOtherListFitsAFrame) {
    const std::size_t kMany = 300;
    EXPECT_FALSE(sent(UnitsChanged{{kMany, {escaped(), "active", "enabled"}}}).units.empty());
    EXPECT_FALSE(sent(Drift{{kMany, {escaped(), escaped(), escaped()}}}).objects.empty());
    EXPECT_FALSE(sent(TrustedAuthorities{{kMany, {escaped(), escaped()}}}).authorities.empty());
    EXPECT_FALSE(sent(JournalState{escaped(), 0, 0, {kMany, escaped()}}).damage.empty());
    EXPECT_FALSE(sent(StepPreview{0, false, escaped(), {kMany, escaped()}}).diff.empty());
    const model::Finding finding{.found = escaped(), .needed = escaped(), .remedy = escaped()};
    const auto preflight = sent(PreflightResult{{kMany, finding}, {kMany, "clock"}});
    EXPECT_FALSE(preflight.findings.empty());
    EXPECT_THAT(preflight.ignored, Each("clock"));
    EXPECT_THAT(sent(UnitsChanged{{kMany, {"a", "active", "enabled"}}}).units, SizeIs(256));
}

}  // namespace
}  // namespace kubexm::wire
