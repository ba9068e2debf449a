#include "daemon/executor/engine/refusals.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace kubexm::executor {
namespace {

using namespace std::chrono_literals;

constexpr Caller kAgent{998, 7};
constexpr Caller kOther{33, 8};
const Refusals::Time kNoon{100h};
const std::string kCounted = "further refusals of uid 998 in this hour are only counted";

std::vector<std::string> taken(Refusals& refusals) {
    std::vector<std::string> texts;
    while (auto entry = refusals.first()) {
        texts.push_back(entry->what);
        refusals.pop();
    }
    return texts;
}

TEST(Refusals, AreReturnedInOrder) {
    Refusals refusals;
    refusals.add(kAgent, "one", kNoon);
    refusals.add(kOther, "two", kNoon);
    EXPECT_EQ(refusals.first(), (Refusals::Entry{kAgent, "one"}));
    EXPECT_EQ(refusals.first(), (Refusals::Entry{kAgent, "one"})) << "stays until pop()";
    EXPECT_EQ(taken(refusals), (std::vector<std::string>{"one", "two"}));
    EXPECT_FALSE(refusals.first());
}

/// Distinct refusals.
void refuse_often(Refusals& refusals, std::size_t times, Refusals::Time now) {
    for (std::size_t i = 0; i < times; ++i) refusals.add(kAgent, std::to_string(i), now);
}

TEST(Refusals, BeyondTheLimitAreCountedUntilTheNextHour) {
    Refusals refusals;
    refuse_often(refusals, Refusals::kMaxPerHour + 1000, kNoon);
    const auto first_hour = taken(refusals);
    ASSERT_EQ(first_hour.size(), Refusals::kMaxPerHour + 1);
    EXPECT_EQ(first_hour.back(), kCounted);
    refusals.add(kAgent, "still counted", kNoon + 59min);
    EXPECT_FALSE(refusals.first());
    refusals.add(kAgent, "y", kNoon + 60min);
    EXPECT_EQ(taken(refusals),
              (std::vector<std::string>{"1001 more refusals in the hour before", "y"}));
}

TEST(Refusals, OfOneTextAreLimitedAndDoNotHideOthers) {
    Refusals refusals;
    for (int i = 0; i < 20000; ++i) refusals.add(kAgent, "replayed", kNoon);
    refusals.add(kAgent, "another", kNoon);
    std::vector<std::string> written(Refusals::kMaxOfOneText, "replayed");
    written.insert(written.end(), {kCounted, "another"});
    EXPECT_EQ(taken(refusals), written);
    refusals.add(kAgent, "replayed", kNoon + 60min);
    EXPECT_EQ(taken(refusals),
              (std::vector<std::string>{"19980 more refusals in the hour before", "replayed"}));
}

TEST(Refusals, OfOneUserDoNotHideThoseOfAnother) {
    Refusals refusals;
    refuse_often(refusals, 2 * Refusals::kMaxPerHour, kNoon);
    taken(refusals);
    refusals.add(kOther, "seen", kNoon);
    EXPECT_EQ(refusals.first(), (Refusals::Entry{kOther, "seen"}));
}

TEST(Refusals, ThatCannotBeWrittenDoNotFillTheMemory) {
    Refusals refusals;
    for (int hour = 0; hour < 100; ++hour) {
        refuse_often(refusals, Refusals::kMaxPerHour, kNoon + hour * 1h);
    }
    EXPECT_LE(taken(refusals).size(), 2 * (Refusals::kMaxPerHour + 100));
}

}  // namespace
}  // namespace kubexm::executor
