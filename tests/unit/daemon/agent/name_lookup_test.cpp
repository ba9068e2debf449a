#include "daemon/agent/name_lookup.hpp"

#include <gtest/gtest.h>

#include "tests/unit/daemon/loop/running_loop.hpp"

namespace kubexm::agent {
namespace {

TEST(NameLookup, AnswersForNamesThatExistAndThatDoNot) {
    for (const char* name : {"localhost", "no-such-name.invalid"}) {
        Loop loop = make_loop();
        auto lookup = must(look_up(loop, name, [&] { loop.stop(0); }));
        EXPECT_EQ(run(loop), 0) << name;
    }
}

TEST(NameLookup, WithoutItsHandleNobodyIsCalled) {
    Loop loop = make_loop();
    must(look_up(loop, "localhost", [] { FAIL() << "called after the end"; })).reset();
    auto second = must(look_up(loop, "localhost", [&] { loop.stop(0); }));
    EXPECT_EQ(run(loop), 0);
}

}  // namespace
}  // namespace kubexm::agent
