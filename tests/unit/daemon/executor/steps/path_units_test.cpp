#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../host/path_units.hpp"
#include "../host/systemd_test.hpp"
#include "daemon/executor/steps/steps.hpp"

namespace kubexm::executor {
namespace {

using testing::Contains;

/// Mounts and swaps are listed first, then stopped one by one.
class PathUnits : public SystemdTest {
protected:
    Context context() { return {root_, systemd, vault_, soon(), {}}; }

    Scratch scratch_;
    Root root_ = scratch_.root();
    Vault vault_ = Vault::open(scratch_.top() / "vault").value();
};

TEST_F(PathUnits, ThatVanishMeanwhileCountAsStopped) {
    have_units(
        fake, "Where",
        {{"run-netns-a.mount", "/run/netns/a", ""}, {"run-netns-b.mount", "/run/netns/b", ""}});
    fake.when("StopUnit", job_that_ends("done"));
    fake.when_first("StopUnit", refusal("org.freedesktop.systemd1.NoSuchUnit"));
    Context working = context();
    EXPECT_THAT(apply(working, model::Unmounted{"/run/netns"}), IsOk());
    EXPECT_THAT(fake.calls_of_interest(), Contains("StopUnit(run-netns-b.mount, replace)"));
}

TEST_F(PathUnits, ThatCannotBeStoppedAreAnError) {
    have_units(fake, "What", {{"a.swap", "/a", ""}});
    fake.when("StopUnit", refusal(SD_BUS_ERROR_ACCESS_DENIED));
    Context working = context();
    EXPECT_THAT(apply(working, model::SwapOff{}), IsError(Code::denied, "StopUnit a.swap"));
}

}  // namespace
}  // namespace kubexm::executor
