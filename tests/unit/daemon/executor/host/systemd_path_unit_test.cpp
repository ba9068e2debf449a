#include "path_units.hpp"
#include "systemd_test.hpp"

namespace kubexm::executor {
namespace {

using SystemdPathUnits = SystemdTest;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> paths(const Result<std::vector<Systemd::PathUnit>>& found) {
    EXPECT_THAT(found, IsOk());
    std::vector<std::string> list;
    if (!found) return list;
    for (const auto& unit : *found) list.push_back(unit.path);
    return list;
}

TEST_F(SystemdPathUnits, BelowAPathComeDeepestFirst) {
    have_units(fake, "Where",
               {{"-.mount", "/", ""},
                {"a.mount", "/a", ""},
                {"a-b.mount", "/a/b", ""},
                {"a-b-c-d.mount", "/a/b/c/d", ""},
                {"a-x.mount", "/a/x", ""},
                {"a-b-c.mount", "/a/b/c", ""},
                {"ab.mount", "/ab", ""},
                {"ab-c.mount", "/ab/c", ""}});
    EXPECT_THAT(paths(systemd.active_units("mount", "/a", soon())),
                ElementsAre("/a/b/c/d", "/a/b/c", "/a/b", "/a/x"));
    EXPECT_THAT(fake.calls_of_interest().front(),
                "ListUnitsByPatterns([active, reloading, activating, deactivating], [*.mount])");
    EXPECT_EQ(systemd.active_units("mount", "/a", soon())->front().unit, "a-b-c-d.mount");
    EXPECT_THAT(paths(systemd.active_units("mount", "/ab/", soon())), ElementsAre("/ab/c"));
    EXPECT_EQ(paths(systemd.active_units("mount", "/", soon())).size(), 7U);
    EXPECT_THAT(paths(systemd.active_units("mount", "/none", soon())), IsEmpty());
}

TEST_F(SystemdPathUnits, OfSwapAreListedOnceEach) {
    have_units(fake, "What",
               {{"dev-sda2.swap", "/dev/sda2", ""},
                {"dev-disk-by\\x2did-1.swap", "/dev/disk/by-id/1", "dev-sda2.swap"},
                {"swapfile.swap", "/swapfile", ""}});
    EXPECT_THAT(paths(systemd.active_units("swap", "", soon())),
                ElementsAre("/dev/sda2", "/swapfile"));
}

TEST_F(SystemdPathUnits, HaveNoOtherTypes) {
    EXPECT_THAT(systemd.active_units("service", "", soon()), IsError(Code::invalid, "service"));
    EXPECT_THAT(systemd.active_units("*", "", soon()),
                IsError(Code::invalid, "expected mount or swap"));
}

TEST_F(SystemdPathUnits, AreAnErrorWhereTheReplyHasOtherTypes) {
    fake.when("ListUnitsByPatterns",
              [](Peer& peer, sd_bus_message* call) { peer.reply(call, "as", 0); });
    EXPECT_THAT(systemd.active_units("mount", "", soon()), IsError(Code::internal, "ssssssouso"));
}

}  // namespace
}  // namespace kubexm::executor
