#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../host/systemd_test.hpp"
#include "daemon/executor/steps/steps.hpp"

namespace kubexm::executor {
namespace {

using testing::ElementsAre;
using testing::Optional;

/// A host with two interfaces; the test plays the kernel.
class Forwarding : public SystemdTest {
protected:
    Forwarding() {
        set("ip_forward", "0");
        set("conf/all/accept_redirects", "1");
        for (const char* name : {"all", "default", "eth0", "eth0.7"}) set_for(name, "0");
    }
    void set(const std::string& name, const std::string& value) {
        const fs::path file = scratch_.at("/proc/sys/net/ipv4/" + name);
        fs::create_directories(file.parent_path());
        put(file, value + "\n");
    }
    void set_for(const std::string& interface, const std::string& value) {
        set("conf/" + interface + "/forwarding", value);
    }
    std::string get(const std::string& name) const {
        return content_of(scratch_.at("/proc/sys/net/ipv4/" + name));
    }
    Context context() {
        Context made{root_, systemd, vault_, soon(), {}};
        made.bridges = [this] { return bridges_; };
        return made;
    }
    ValuePreImage captured() {
        Context working = context();
        return std::get<ValuePreImage>(capture(working, step_).value());
    }

    /// After `meanwhile`, with our value in place.
    template <typename Meanwhile>
    std::string undone_after(Meanwhile meanwhile) {
        const ValuePreImage before = captured();
        set("ip_forward", "1");
        meanwhile();
        Context working = context();
        return undo(working, step_, *image_from_json(to_json(before))).value();
    }

    std::vector<std::string> bridges_{"docker0"};
    const model::Sysctl step_{"net.ipv4.ip_forward", "1"};
    Scratch scratch_;
    Root root_ = scratch_.root();
    Vault vault_ = Vault::open(scratch_.top() / "vault").value();
};

TEST_F(Forwarding, OfInterfacesThatFollowTheHostIsNotRecorded) {
    EXPECT_EQ(captured(), (ValuePreImage{"0", {}, {{"docker0"}}}));
}

TEST_F(Forwarding, OfInterfacesThatDifferIsRestored) {
    set_for("eth0.7", "1");
    set("conf/all/accept_redirects", "0");
    const ValuePreImage before = captured();
    EXPECT_THAT(before.exceptions,
                Optional(ElementsAre(Setting{"net.ipv4.conf.eth0/7.forwarding", "1"},
                                     Setting{"net.ipv4.conf.all.accept_redirects", "0"})));
    for (const char* name : {"all", "default", "eth0", "eth0.7"}) set_for(name, "0");
    set("conf/all/accept_redirects", "1");
    Context working = context();
    EXPECT_EQ(undo(working, step_, *image_from_json(to_json(before))), "");
    EXPECT_EQ(get("conf/eth0.7/forwarding"), "1\n");
    EXPECT_EQ(get("conf/all/accept_redirects"), "0\n");
    EXPECT_EQ(get("conf/eth0/forwarding"), "0\n");
}

TEST_F(Forwarding, OfARemovedInterfaceIsIgnored) {
    set_for("eth0", "1");
    const ValuePreImage before = captured();
    fs::remove_all(scratch_.at("/proc/sys/net/ipv4/conf/eth0"));
    Context working = context();
    EXPECT_EQ(undo(working, step_, before), "");
}

TEST_F(Forwarding, StaysWhereSomebodyChangedIt) {
    EXPECT_EQ(undone_after([&] { set("ip_forward", "2"); }),
              "net.ipv4.ip_forward stays 2: changed after the plan set it; before, it was 0");
    EXPECT_EQ(get("ip_forward"), "2\n");
}

TEST_F(Forwarding, StaysWhileOthersHaveNewBridges) {
    EXPECT_THAT(undone_after([&] { bridges_ = {"docker0", "virbr0", "cni0", "br-1"}; }),
                testing::StartsWith("net.ipv4.ip_forward stays 1: virbr0, br-1 appeared"));
    EXPECT_EQ(get("ip_forward"), "1\n");
}

TEST_F(Forwarding, ComesBackWithTheBridgesOfBefore) {
    EXPECT_EQ(undone_after([] {}), "");
    EXPECT_EQ(get("ip_forward"), "0\n");
    EXPECT_EQ(undone_after([&] { bridges_ = {}; }), "");
    EXPECT_EQ(get("ip_forward"), "0\n");
}

TEST_F(Forwarding, ComesBackWhereBridgesAreOfAPodNetwork) {
    const ValuePreImage before = captured();
    set("ip_forward", "1");
    bridges_ = {"docker0", "ours"};
    Context working = context();
    working.links = {"ours"};
    EXPECT_EQ(undo(working, step_, before), "");
    EXPECT_EQ(get("ip_forward"), "0\n");
}

/// As a newer plan of the same owner set it, or an older one whose successor was only prepared.
TEST_F(Forwarding, ComesBackFromTheValueThatWasLastApplied) {
    const ValuePreImage before = captured();
    set("ip_forward", "2");
    Context working = context();
    working.previous = model::Sysctl{"net.ipv4.ip_forward", "2"};
    EXPECT_EQ(undo(working, step_, before), "");
    EXPECT_EQ(get("ip_forward"), "0\n");
}

TEST_F(Forwarding, IsRestoredForInterfacesAfterAnInterruptedUndo) {
    set_for("eth0", "1");
    const ValuePreImage before = captured();
    set_for("eth0", "0");
    bridges_ = {"virbr0"};
    Context working = context();
    EXPECT_EQ(undo(working, step_, before), "") << "the value is that of before already";
    EXPECT_EQ(get("conf/eth0/forwarding"), "1\n");
}

TEST_F(Forwarding, IsReadFromLedgersThatDoNotSpeakOfInterfaces) {
    EXPECT_EQ(image_from_json(R"({"type":"value","value":"0"})"),
              PreImage(ValuePreImage{"0", {}, {}}));
}

}  // namespace
}  // namespace kubexm::executor
