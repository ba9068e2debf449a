#include "path_units.hpp"
#include "systemd_test.hpp"

namespace kubexm::executor {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::SizeIs;

/// systemd, which answers a reload when the test says so.
class SystemdReload : public SystemdTest {
protected:
    SystemdReload() {
        fake.when_first("Reload",
                        [this](Peer&, sd_bus_message* call) { call_ = sd_bus_message_ref(call); });
    }
    ~SystemdReload() override { sd_bus_message_unref(call_); }
    SystemdReload(const SystemdReload&) = delete;
    SystemdReload& operator=(const SystemdReload&) = delete;

    void answer() {
        fake.act([this](Peer& peer) { peer.reply(call_, ""); });
    }
    auto lists() { return std::ranges::count_if(fake.calls_of_interest(), is_list); }
    static bool is_list(const std::string& call) { return call.starts_with("ListUnits"); }

    sd_bus_message* call_ = nullptr;  // of the bus's thread
};

TEST_F(SystemdReload, IsAnsweredAfterOtherCalls) {
    ASSERT_THAT(systemd.begin_reload(soon()), IsOk());
    EXPECT_THAT(systemd.status("a.service", soon()), IsOk());
    answer();
    EXPECT_THAT(systemd.start("a.service", soon()), IsOk()) << "its reply arrives here";
    EXPECT_THAT(systemd.end_reload(soon()), IsOk());
    EXPECT_THAT(fake.calls_of_interest(), Contains("Reload()").Times(1));
}

TEST_F(SystemdReload, HasADeadline) {
    ASSERT_THAT(systemd.begin_reload(soon()), IsOk());
    EXPECT_THAT(systemd.end_reload(in(50ms)), IsError(Code::timeout, "reloading systemd"));
    EXPECT_THAT(systemd.reload(soon()), IsOk());
}

TEST_F(SystemdReload, FailsWithTheErrorOfItsReply) {
    ASSERT_THAT(systemd.begin_reload(soon()), IsOk());
    fake.act([this](Peer& peer) { peer.refuse(call_, SD_BUS_ERROR_ACCESS_DENIED, "no"); });
    EXPECT_THAT(systemd.end_reload(soon()), IsError(Code::denied, "reloading systemd: no"));
}

TEST_F(SystemdReload, FailsWhereSystemdIsLost) {
    ASSERT_THAT(systemd.begin_reload(soon()), IsOk());
    fake.act([](Peer& peer) { peer.hang_up(); });
    EXPECT_THAT(systemd.end_reload(soon()), IsError(Code::unavailable, ""));
    ASSERT_THAT(systemd.begin_reload(soon()), IsOk());
    EXPECT_THAT(systemd.end_reload(soon()), IsOk());
}

TEST_F(SystemdReload, FailsWhereSystemdIsReplaced) {
    ASSERT_THAT(systemd.begin_reload(soon()), IsOk());
    fake.replace_systemd();
    EXPECT_THAT(systemd.end_reload(soon()), IsError(Code::unavailable, ""));
}

TEST_F(SystemdReload, MountsAreThoseOfItsBegin) {
    have_units(fake, "Where", {{"a-b.mount", "/a/b", ""}});
    ASSERT_THAT(systemd.begin_reload(soon()), IsOk());
    EXPECT_THAT(*systemd.active_units("mount", "/c", soon()), IsEmpty());
    EXPECT_EQ(lists(), 1) << "systemd would not answer";
    EXPECT_THAT(*systemd.active_units("mount", "/a", soon()), SizeIs(1));
    EXPECT_EQ(lists(), 2) << "a mount is looked at again";
    answer();
    ASSERT_THAT(systemd.end_reload(soon()), IsOk());
    EXPECT_THAT(*systemd.active_units("mount", "/c", soon()), IsEmpty());
    EXPECT_EQ(lists(), 3);
}

}  // namespace
}  // namespace kubexm::executor
