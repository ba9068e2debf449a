#include "daemon/executor/engine/audit_queue.hpp"

#include <gmock/gmock.h>

#include <vector>

#include "daemon/base/text.hpp"

namespace kubexm::executor {
namespace {

using namespace std::chrono_literals;

constexpr Caller kAgent{998, 7};
constexpr Caller kOther{33, 8};
const AuditQueue::Time kNoon{100h};
const std::string kCounted = "further ones of uid 998 in this hour are only counted";

void add_refusal(AuditQueue& queue, const Caller& caller, const std::string& what,
                 AuditQueue::Time now) {
    queue.add({caller, "refused", what}, what, now);
}

std::vector<std::string> taken(AuditQueue& refusals) {
    std::vector<std::string> texts;
    while (auto entry = refusals.first()) {
        texts.push_back(entry->detail);
        refusals.pop();
    }
    return texts;
}

TEST(AuditQueue, ReturnsInOrder) {
    AuditQueue refusals;
    add_refusal(refusals, kAgent, "one", kNoon);
    add_refusal(refusals, kOther, "two", kNoon);
    EXPECT_EQ(refusals.first(), (AuditQueue::Entry{kAgent, "refused", "one"}));
    EXPECT_EQ(refusals.first(), (AuditQueue::Entry{kAgent, "refused", "one"}))
        << "stays until pop()";
    EXPECT_EQ(taken(refusals), (std::vector<std::string>{"one", "two"}));
    EXPECT_FALSE(refusals.first());
}

/// Distinct refusals.
void refuse_often(AuditQueue& refusals, std::size_t times, AuditQueue::Time now) {
    for (std::size_t i = 0; i < times; ++i) add_refusal(refusals, kAgent, std::to_string(i), now);
}

TEST(Audited, NamesThePersonOrTheManagementCluster) {
    Caller caller{998, 7, {}};
    EXPECT_EQ(audited(caller, "undo"), "undo");
    caller.on_behalf_of = model::OnBehalfOf{4711, model::Origin::control};
    EXPECT_EQ(audited(caller, "undo"),
              "undo (on behalf of user 4711, control, as the client says)");
    caller.on_behalf_of = model::OnBehalfOf{0, model::Origin::management};
    EXPECT_EQ(audited(caller, "undo"),
              "undo (on behalf of the management cluster, as the client says)");
}

TEST(AuditQueue, BeyondTheLimitCountsUntilTheNextHour) {
    AuditQueue refusals;
    refuse_often(refusals, AuditQueue::kMaxPerHour + 1000, kNoon);
    const auto first_hour = taken(refusals);
    ASSERT_EQ(first_hour.size(), AuditQueue::kMaxPerHour + 1);
    EXPECT_EQ(first_hour.back(), kCounted);
    add_refusal(refusals, kAgent, "still counted", kNoon + 59min);
    EXPECT_FALSE(refusals.first());
    add_refusal(refusals, kAgent, "y", kNoon + 60min);
    EXPECT_EQ(taken(refusals), (std::vector<std::string>{"1001 more in the hour before", "y"}));
}

TEST(AuditQueue, LimitsEqualOnesThatDoNotHideOthers) {
    AuditQueue refusals;
    for (int i = 0; i < 20000; ++i) add_refusal(refusals, kAgent, "replayed", kNoon);
    add_refusal(refusals, kAgent, "another", kNoon);
    std::vector<std::string> written(AuditQueue::kMaxOfOneSubject, "replayed");
    written.insert(written.end(), {kCounted, "another"});
    EXPECT_EQ(taken(refusals), written);
    add_refusal(refusals, kAgent, "replayed", kNoon + 60min);
    EXPECT_EQ(taken(refusals),
              (std::vector<std::string>{"19980 more in the hour before", "replayed"}));
}

TEST(AuditQueue, KeepsUsersApart) {
    AuditQueue refusals;
    refuse_often(refusals, 2 * AuditQueue::kMaxPerHour, kNoon);
    taken(refusals);
    add_refusal(refusals, kOther, "seen", kNoon);
    EXPECT_EQ(refusals.first(), (AuditQueue::Entry{kOther, "refused", "seen"}));
}

TEST(AuditQueue, BoundsWhatIsWrittenOfOthersThanRoot) {
    const std::string text = "path /" + std::string(5000, 'x') + ": expected a short one";
    EXPECT_EQ(audited(kAgent, text).size(), 511U);
    EXPECT_THAT(audited(kAgent, text),
                testing::AllOf(testing::StartsWith("path /xxx"),
                               testing::EndsWith("x: expected a short one")));
    EXPECT_EQ(audited({.uid = 0, .pid = 1}, text), text);
}

TEST(AuditQueue, CutsNoCharacterInTwo) {
    for (const char* more : {"", "x", "xx"}) {
        std::string text = more;
        for (int i = 0; i < 1000; ++i) text += "\xe4\xb8\xad";
        EXPECT_EQ(bounded_utf8(audited(kAgent, text), 5000), audited(kAgent, text));
    }
}

TEST(AuditQueue, KeepsEventsApart) {
    AuditQueue refusals;
    refuse_often(refusals, 2 * AuditQueue::kMaxPerHour, kNoon);
    taken(refusals);
    for (int i = 0; i < 30; ++i) {
        refusals.add({kAgent, "plan offered", std::to_string(i)}, "machine-1", kNoon);
    }
    const auto offered = taken(refusals);
    ASSERT_EQ(offered.size(), AuditQueue::kMaxOfOneSubject + 1);
    EXPECT_EQ(offered.front(), "0");
    EXPECT_EQ(offered.back(), kCounted);
}

TEST(AuditQueue, IsBoundedWhereNothingCanBeWritten) {
    AuditQueue refusals;
    for (int hour = 0; hour < 100; ++hour) {
        refuse_often(refusals, AuditQueue::kMaxPerHour, kNoon + hour * 1h);
    }
    EXPECT_LE(taken(refusals).size(), 2 * (AuditQueue::kMaxPerHour + 100));
}

}  // namespace
}  // namespace kubexm::executor
