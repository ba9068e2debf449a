#include "daemon/executor/engine/refusals.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace kubexm::executor {
namespace {

using namespace std::chrono_literals;

constexpr Caller kFront{998, 7};
constexpr Caller kOther{33, 8};
const Refusals::Time kNoon{100h};
const std::string kCounted = "repeated or too many: such ones of this hour are counted";

std::vector<std::string> taken(Refusals& refusals) {
    std::vector<std::string> texts;
    while (auto entry = refusals.first()) {
        texts.push_back(entry->what);
        refusals.written();
    }
    return texts;
}

TEST(Refusals, AreGivenInTheirOrder) {
    Refusals refusals;
    refusals.add(kFront, "one", kNoon);
    refusals.add(kOther, "two", kNoon);
    EXPECT_EQ(refusals.first(), (Refusals::Entry{kFront, "one"}));
    EXPECT_EQ(refusals.first(), (Refusals::Entry{kFront, "one"})) << "not before it is written";
    EXPECT_EQ(taken(refusals), (std::vector<std::string>{"one", "two"}));
    EXPECT_FALSE(refusals.first());
}

/// So many refusals, all different.
void refuse_often(Refusals& refusals, std::size_t times, Refusals::Time now) {
    for (std::size_t i = 0; i < times; ++i) refusals.add(kFront, std::to_string(i), now);
}

TEST(Refusals, BeyondTheLimitAreCountedAndTheCountIsWrittenInTheNextHour) {
    Refusals refusals;
    refuse_often(refusals, Refusals::kOneByOne + 1000, kNoon);
    const auto first_hour = taken(refusals);
    ASSERT_EQ(first_hour.size(), Refusals::kOneByOne + 1);
    EXPECT_EQ(first_hour.back(), kCounted);
    refusals.add(kFront, "still counted", kNoon + 59min);
    EXPECT_FALSE(refusals.first());
    refusals.add(kFront, "y", kNoon + 60min);
    EXPECT_EQ(taken(refusals), (std::vector<std::string>{"1001 more in the hour before", "y"}));
}

TEST(Refusals, ThatRepeatThemselvesAreCountedEarlierAndHideNoOther) {
    Refusals refusals;
    for (int i = 0; i < 20000; ++i) refusals.add(kFront, "replayed", kNoon);
    refusals.add(kFront, "another", kNoon);
    std::vector<std::string> written(Refusals::kOfOneText, "replayed");
    written.insert(written.end(), {kCounted, "another"});
    EXPECT_EQ(taken(refusals), written);
    refusals.add(kFront, "replayed", kNoon + 60min);
    EXPECT_EQ(taken(refusals),
              (std::vector<std::string>{"19980 more in the hour before", "replayed"}));
}

TEST(Refusals, OfOneUserDoNotHideThoseOfAnother) {
    Refusals refusals;
    refuse_often(refusals, 2 * Refusals::kOneByOne, kNoon);
    taken(refusals);
    refusals.add(kOther, "seen", kNoon);
    EXPECT_EQ(refusals.first(), (Refusals::Entry{kOther, "seen"}));
}

TEST(Refusals, ThatCannotBeWrittenDoNotFillTheMemory) {
    Refusals refusals;
    for (int hour = 0; hour < 100; ++hour) {
        refuse_often(refusals, Refusals::kOneByOne, kNoon + hour * 1h);
    }
    EXPECT_LE(taken(refusals).size(), 2 * (Refusals::kOneByOne + 100));
}

}  // namespace
}  // namespace kubexm::executor
