#include "systemd_test.hpp"

namespace kubexm::executor {
namespace {

using SystemdConnection = SystemdTest;
using testing::Contains;
using testing::IsEmpty;

TEST_F(SystemdConnection, IsOpenedOnceOnDemand) {
    EXPECT_THAT(fake.calls(), IsEmpty());
    ASSERT_THAT(systemd.reload(soon()), IsOk());
    ASSERT_THAT(systemd.reload(soon()), IsOk());
    EXPECT_THAT(fake.calls(), Contains("Hello()").Times(1));
}

TEST_F(SystemdConnection, IsReopenedWithoutAnErrorWhenItWasLostWhileIdle) {
    ASSERT_THAT(systemd.reload(soon()), IsOk());
    fake.act([](Peer& peer) { peer.hang_up(); });
    EXPECT_THAT(systemd.reload(soon()), IsOk());
    fake.replace_systemd();
    EXPECT_THAT(systemd.reload(soon()), IsOk());
    EXPECT_THAT(fake.calls(), Contains("Hello()").Times(3));
}

TEST_F(SystemdConnection, IsReopenedAfterBytesThatAreNotDBus) {
    fake.when_first("Reload", [](Peer& peer, sd_bus_message*) { peer.write_garbage(); });
    EXPECT_FALSE(systemd.reload(soon()));
    EXPECT_THAT(systemd.reload(soon()), IsOk());
}

TEST(SystemdWithoutABus, NamesTheAddress) {
    Systemd systemd("unix:path=/nonexistent/bus");
    EXPECT_THAT(systemd.reload(soon()), IsError(Code::unavailable, "/nonexistent/bus"));
    EXPECT_THAT(Systemd("rubbish").reload(soon()), IsError(Code::unavailable, "rubbish"));
}

TEST(SystemdWithoutABus, AServerThatIsSilentDoesNotExtendTheDeadline) {
    const TempDirectory directory;
    const std::string path = directory / "bus";
    const Fd listener = listen_at(path);
    EXPECT_THAT(Systemd("unix:path=" + path).reload(in(50ms)), IsError(Code::timeout, path));
}

TEST_F(SystemdConnection, FailsWithoutSystemdOnTheBus) {
    fake.when_first("GetNameOwner", refusal(SD_BUS_ERROR_NAME_HAS_NO_OWNER));
    EXPECT_THAT(systemd.reload(soon()), IsError(Code::unavailable, "finding systemd"));
    EXPECT_THAT(systemd.reload(soon()), IsOk());
}

TEST_F(SystemdConnection, EndsACallAtTheDeadline) {
    ASSERT_THAT(systemd.reload(soon()), IsOk());  // connected: the deadline is the call's
    fake.when_first("Reload", [](Peer&, sd_bus_message*) {});
    EXPECT_THAT(systemd.reload(in(1s)), IsError(Code::timeout, ""));
    EXPECT_THAT(systemd.reload(soon()), IsOk());
}

TEST_F(SystemdConnection, MapsTheNameOfAnErrorToACode) {
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
        {"com.example.Unknown", Code::unavailable},
    };
    for (const auto& [name, code] : errors) {
        fake.when("StartUnit", refusal(name, "its own\ntext"));
        EXPECT_THAT(systemd.start("a.service", soon()),
                    IsError(code, R"(StartUnit a.service: its own\ntext)"))
            << name;
    }
}

TEST_F(SystemdConnection, IsNotOpenedForAnInvalidUnitName) {
    const std::string invalid = "../a.service";
    EXPECT_THAT(systemd.status(invalid, soon()), IsError(Code::invalid, invalid));
    EXPECT_THAT(systemd.needs_reload(invalid, soon()), IsError(Code::invalid, invalid));
    for (const auto method :
         {&Systemd::start, &Systemd::stop, &Systemd::restart, &Systemd::enable, &Systemd::disable,
          &Systemd::remove_links, &Systemd::mask, &Systemd::unmask, &Systemd::reset_failed}) {
        EXPECT_THAT((systemd.*method)(invalid, soon()), IsError(Code::invalid, invalid));
    }
    EXPECT_THAT(systemd.run({invalid, "", {"/bin/true"}}, soon()), IsError(Code::invalid, invalid));
    EXPECT_THAT(fake.calls(), IsEmpty());
}

}  // namespace
}  // namespace kubexm::executor
