#include "systemd_test.hpp"
#include "tests/unit/crash_child.hpp"

namespace kubexm::executor {
namespace {

using crash::CrashPoint;
using testing::ElementsAre;

// The clients run in forked children, the bus in this process.
using SystemdCrash = SystemdTest;

TEST_F(SystemdCrash, EveryChangingCallIsBetweenTwoCrashPoints) {
    const std::string address = fake.address();
    const auto points = crash::crash_points_of([&] {
        Systemd mine(address);
        std::ignore = mine.status("a.service", soon());
        std::ignore = mine.start("a.service", soon());
        std::ignore = mine.reset_failed("a.service", soon());
    });
    EXPECT_THAT(points,
                ElementsAre(CrashPoint{"bus.call.before", 1}, CrashPoint{"bus.call.after", 1},
                            CrashPoint{"bus.call.before", 2}, CrashPoint{"bus.call.after", 2}));
}

TEST_F(SystemdCrash, TheCallIsMadeBetweenThem) {
    const std::string address = fake.address();
    const auto reload = [&] { std::ignore = Systemd(address).reload(soon()); };
    ASSERT_TRUE(crash::dies_at({"bus.call.before", 1}, reload));
    EXPECT_THAT(fake.calls_of_interest(), testing::IsEmpty());
    ASSERT_TRUE(crash::dies_at({"bus.call.after", 1}, reload));
    EXPECT_THAT(fake.calls_of_interest(), ElementsAre("Reload()"));
}

TEST_F(SystemdCrash, AReloadIsBegunAndEndedBetweenThem) {
    const std::string address = fake.address();
    const auto reload = [&] {
        Systemd mine(address);
        std::ignore = mine.begin_reload(soon());
        std::ignore = mine.end_reload(soon());
    };
    EXPECT_THAT(crash::crash_points_of(reload),
                ElementsAre(CrashPoint{"bus.call.before", 1}, CrashPoint{"bus.call.after", 1}));
}

TEST_F(SystemdCrash, LinksAreSyncedBeforeTheReload) {
    fs::create_directory(fake.directory() / "wants");
    const std::string link = fake.directory() / "wants" / "a.service";
    const std::string removed = fake.directory() / "gone" / "requires" / "a.service";
    const std::string refused = fake.directory() / "none" / "a.service";
    fake.when("MaskUnitFiles", [=](Peer& peer, sd_bus_message* call) {
        peer.reply(call, "a(sss)", 3, "symlink", link.c_str(), "/x", "unlink", removed.c_str(),
                   "",  //
                   "masked", refused.c_str(), "");
    });
    const std::string address = fake.address();
    const auto points =
        crash::crash_points_of([&] { std::ignore = Systemd(address).mask("a.service", soon()); });
    EXPECT_THAT(points,
                ElementsAre(CrashPoint{"bus.call.before", 1}, CrashPoint{"bus.call.after", 1},
                            CrashPoint{"dir.fsync.before", 1}, CrashPoint{"dir.fsync.after", 1},
                            CrashPoint{"dir.fsync.before", 2}, CrashPoint{"dir.fsync.after", 2},
                            CrashPoint{"bus.call.before", 2}, CrashPoint{"bus.call.after", 2}));
}

}  // namespace
}  // namespace kubexm::executor
