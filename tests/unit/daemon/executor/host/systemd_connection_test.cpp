#include <sys/socket.h>
#include <sys/un.h>

#include "systemd_test.hpp"

namespace kubexm::executor {
namespace {

using SystemdConnection = SystemdTest;
using testing::Contains;
using testing::IsEmpty;

TEST_F(SystemdConnection, IsMadeOnceAndWhenNeeded) {
    EXPECT_THAT(fake.calls(), IsEmpty());
    ASSERT_THAT(systemd.reload(soon()), IsOk());
    ASSERT_THAT(systemd.reload(soon()), IsOk());
    EXPECT_THAT(fake.calls(), Contains("Hello()").Times(1));
}

TEST_F(SystemdConnection, IsMadeAgainWithoutAWordWhenItWasLostAtRest) {
    ASSERT_THAT(systemd.reload(soon()), IsOk());
    fake.act([](Peer& peer) { peer.hang_up(); });
    EXPECT_THAT(systemd.reload(soon()), IsOk());
    fake.replace_systemd();
    EXPECT_THAT(systemd.reload(soon()), IsOk());
    EXPECT_THAT(fake.calls(), Contains("Hello()").Times(3));
}

TEST_F(SystemdConnection, IsMadeAgainAfterBytesThatAreNoDBus) {
    fake.when_first("Reload", [](Peer& peer, sd_bus_message*) { peer.write_garbage(); });
    EXPECT_FALSE(systemd.reload(soon()));
    EXPECT_THAT(systemd.reload(soon()), IsOk());
}

TEST(SystemdWithoutABus, NamesWhereItLooked) {
    Systemd systemd("unix:path=/nonexistent/bus");
    EXPECT_THAT(systemd.reload(soon()), IsError(Code::unavailable, "/nonexistent/bus"));
    EXPECT_THAT(Systemd("rubbish").reload(soon()), IsError(Code::unavailable, "rubbish"));
}

TEST(SystemdWithoutABus, DoesNotWaitBeyondTheDeadlineForOneThatIsSilent) {
    Scratch scratch;
    const auto path = scratch.inside() / "bus";
    const Fd listener{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.string().copy(address.sun_path, sizeof(address.sun_path) - 1);
    ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    ASSERT_EQ(::listen(listener.get(), 1), 0);
    Systemd systemd("unix:path=" + path.string());
    EXPECT_THAT(systemd.reload(in(50ms)), IsError(Code::timeout, path.string()));
}

TEST_F(SystemdConnection, IsOfNoUseWithoutSystemdOnTheBus) {
    fake.when_first("GetNameOwner", refusal(SD_BUS_ERROR_NAME_HAS_NO_OWNER));
    EXPECT_THAT(systemd.reload(soon()), IsError(Code::unavailable, "looking for systemd"));
    EXPECT_THAT(systemd.reload(soon()), IsOk());
}

TEST_F(SystemdConnection, EndsACallAtTheDeadline) {
    ASSERT_THAT(systemd.reload(soon()), IsOk());  // connected: all of the time is the call's
    fake.when_first("Reload", [](Peer&, sd_bus_message*) {});
    EXPECT_THAT(systemd.reload(in(1s)), IsError(Code::timeout, ""));
    EXPECT_THAT(systemd.reload(soon()), IsOk());
}

TEST_F(SystemdConnection, SaysWhatToDoAboutAnErrorByItsName) {
    const std::vector<std::pair<std::string, Code>> errors = {
        {"org.freedesktop.systemd1.NoSuchUnit", Code::not_found},
        {"org.freedesktop.systemd1.UnitMasked", Code::denied},
        {"org.freedesktop.systemd1.LoadFailed", Code::invalid},
        {"org.freedesktop.systemd1.UnitExists", Code::conflict},
        {"org.freedesktop.systemd1.TransactionIsDestructive", Code::conflict},
        {"org.freedesktop.systemd1.ShuttingDown", Code::unavailable},
        {"org.freedesktop.DBus.Error.NoReply", Code::unavailable},
        {"org.freedesktop.DBus.Error.ServiceUnknown", Code::unavailable},
        {"org.freedesktop.DBus.Error.AccessDenied", Code::denied},
        {"org.freedesktop.DBus.Error.FileNotFound", Code::not_found},
        {"org.freedesktop.DBus.Error.FileExists", Code::conflict},
        {"org.freedesktop.DBus.Error.InvalidArgs", Code::invalid},
        {"System.Error.ENOSPC", Code::exhausted},
        {"com.example.NeverHeardOf", Code::unavailable},
    };
    for (const auto& [name, code] : errors) {
        fake.when("StartUnit", refusal(name, "its own\nwords"));
        EXPECT_THAT(systemd.start("a.service", soon()),
                    IsError(code, R"(StartUnit a.service: its own\nwords)"))
            << name;
    }
}

TEST_F(SystemdConnection, IsNotEvenMadeForABadUnitName) {
    const std::string bad = "../a.service";
    EXPECT_THAT(systemd.status(bad, soon()), IsError(Code::invalid, bad));
    for (const auto verb :
         {&Systemd::start, &Systemd::stop, &Systemd::restart, &Systemd::enable, &Systemd::disable,
          &Systemd::mask, &Systemd::unmask, &Systemd::reset_failed}) {
        EXPECT_THAT((systemd.*verb)(bad, soon()), IsError(Code::invalid, bad));
    }
    EXPECT_THAT(systemd.run({bad, "", {"/bin/true"}}, soon()), IsError(Code::invalid, bad));
    EXPECT_THAT(fake.calls(), IsEmpty());
}

}  // namespace
}  // namespace kubexm::executor
