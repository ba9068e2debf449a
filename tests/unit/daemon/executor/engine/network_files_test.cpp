#include <gtest/gtest.h>

#include "daemon/model/remaining.hpp"
#include "engine_host.hpp"

namespace kubexm::executor {
namespace {

/// A host whose /opt/cni/bin gets programs after a plan.
class NewPlugins : public EngineHost {
protected:
    NewPlugins() {
        std::filesystem::create_directories(scratch_.at("/opt/cni/bin"));
        EXPECT_THAT(applied({"p", "machine-1", {model::SideEffects{kNetworkFiles}}}),
                    IsState(PlanState::done))
            << engine.plan("p")->last_error;
    }
    void undone_after(const std::vector<std::string>& programs) {
        for (const std::string& name : programs) put(scratch_.at("/opt/cni/bin/" + name), "");
        const auto undo = engine.accept_undo("u", "machine-1", kAgentCaller);
        ASSERT_THAT(undo, IsOk());
        EXPECT_THAT(carried_out(*undo), IsState(PlanState::undone));
    }
    std::set<std::string> left() const { return names_in(scratch_.at("/opt/cni/bin")); }

    static constexpr auto kNetworkFiles = model::SideEffect::network_files;
};

TEST_F(NewPlugins, OfAPackageStayAndAreNamed) {
    undone_after({"host-local", "loopback", "portmap", "flannel"});
    EXPECT_THAT(left(), testing::ElementsAre("flannel", "host-local", "loopback", "portmap"));
    EXPECT_THAT(engine.plan("u")->stays, testing::HasSubstr("host-local"));
}

TEST_F(NewPlugins, OfCalicoGo) {
    undone_after({"calico", "calico-ipam", "host-local", "portmap"});
    EXPECT_THAT(left(), testing::IsEmpty());
}

}  // namespace
}  // namespace kubexm::executor
