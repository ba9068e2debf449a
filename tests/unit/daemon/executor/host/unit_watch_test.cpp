#include "daemon/executor/host/unit_watch.hpp"

#include <poll.h>
#include <sys/wait.h>

#include <fcntl.h>

#include "daemon/executor/host/package_lock.hpp"
#include "systemd_test.hpp"

namespace kubexm::executor {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kProperties = "org.freedesktop.DBus.Properties";

class SystemdUnitWatch : public testing::Test {
protected:
    /// What the watch says once something has arrived.
    Result<std::set<std::string>> next() {
        pollfd ready{.fd = watch.fd(), .events = POLLIN, .revents = 0};
        EXPECT_EQ(::poll(&ready, 1, 30'000), 1);
        return watch.changed();
    }
    void change(const char* sender, const std::string& object) {
        fake.act([&](Peer& peer) {
            peer.emit_of(sender, object.c_str(), kProperties, "PropertiesChanged", "sa{sv}as",
                         "org.freedesktop.systemd1.Unit", 0, 0);
        });
    }

    FakeSystemd fake;
    UnitWatch watch = UnitWatch::open(fake.address(), {"a.service", "b.service"}, soon()).value();
};

TEST_F(SystemdUnitWatch, AsksForTheSignalsOfItsUnits) {
    EXPECT_THAT(fake.calls(),
                Contains(HasSubstr("path='/org/freedesktop/systemd1/unit/a_2eservice'")));
    EXPECT_THAT(fake.calls(), Contains("Subscribe()"));
}

TEST_F(SystemdUnitWatch, NamesTheUnitThatChanged) {
    change(kOwner, "/org/freedesktop/systemd1/unit/a_2eservice");
    EXPECT_THAT(next().value(), ElementsAre("a.service"));
    EXPECT_THAT(watch.changed().value(), ElementsAre());
}

TEST_F(SystemdUnitWatch, IgnoresOtherUnitsAndOtherSenders) {
    change(kOwner, "/org/freedesktop/systemd1/unit/c_2eservice");
    change(":1.66", "/org/freedesktop/systemd1/unit/a_2eservice");
    EXPECT_THAT(next().value(), ElementsAre());
}

TEST_F(SystemdUnitWatch, ChangedFilesMayConcernAllUnits) {
    fake.act([](Peer& peer) { peer.signal("UnitFilesChanged", ""); });
    EXPECT_THAT(next().value(), ElementsAre("a.service", "b.service"));
    fake.act([](Peer& peer) { peer.signal("Reloading", "b", 0); });
    EXPECT_THAT(next().value(), ElementsAre("a.service", "b.service"));
}

TEST_F(SystemdUnitWatch, EndsWhenSystemdIsReplaced) {
    fake.replace_systemd();
    EXPECT_THAT(next(), IsError(Code::unavailable, "replaced"));
}

TEST_F(SystemdUnitWatch, EndsWithTheBus) {
    fake.act([](Peer& peer) { peer.hang_up(); });
    EXPECT_FALSE(next());
}

class PackageLockTest : public FilesTest {};

TEST_F(PackageLockTest, IsSeenWhileAnotherProcessHasIt) {
    fs::create_directories(at("/var/lib/dpkg"));
    EXPECT_FALSE(packages_are_changing(root));
    put(at("/var/lib/dpkg/lock"), "");
    EXPECT_FALSE(packages_are_changing(root));
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        const int file = ::open(at("/var/lib/dpkg/lock").c_str(), O_RDWR);
        struct flock lock{};
        lock.l_type = F_WRLCK;
        if (::fcntl(file, F_SETLK, &lock) == 0) ::write(ready[1], "x", 1);
        ::pause();
    }
    char byte = 0;
    ASSERT_EQ(::read(ready[0], &byte, 1), 1);
    EXPECT_TRUE(packages_are_changing(root));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    EXPECT_FALSE(packages_are_changing(root));
    ::close(ready[0]);
    ::close(ready[1]);
}

}  // namespace
}  // namespace kubexm::executor
