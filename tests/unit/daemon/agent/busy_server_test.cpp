#include <random>

#include "harness/harness.hpp"
#include "tests/unit/sanitized.hpp"

// A management cluster whose answers and events are late, in an order of their own, while others
// write to the ByoHost, too.

namespace kubexm::agent {
namespace {

using namespace std::chrono_literals;
using model::Phase;

/// The parameter is a seed.
class BusyServer : public Harness, public testing::WithParamInterface<int> {
protected:
    int up_to(int most) { return std::uniform_int_distribution(0, most)(random_); }

    void be_busy() {
        management_.lateness = [this] { return up_to(6); };
        management_.on_change = [this](const std::string& path) {
            if (path != kHost || writes_ == 0 || up_to(2) != 0) return;
            --writes_;
            SimulatedCluster::after_turns(loop_, up_to(8), [this] { write_as_another(); });
        };
    }
    void write_as_another() {
        const json annotations{{"theirs", std::to_string(writes_)}};
        management_.patch(kHost, {{"metadata", {{"annotations", annotations}}}});
    }
    bool is_releasing() const {
        const auto& decision = state().decision;
        return decision && decision->action == Action::release;
    }
    void expect_released() {
        advance(30s);
        EXPECT_EQ(phase(), Phase::waiting);
        EXPECT_FALSE(management_.find(kHost)->contains("/status/machineRef"_json_pointer));
    }

    std::minstd_rand random_{static_cast<unsigned>(GetParam())};
    int writes_ = 3;
};

INSTANTIATE_TEST_SUITE_P(Seeds, BusyServer, testing::Range(1, 29, kEveryCrash));

TEST_P(BusyServer, ReleasesANode) {
    join();
    be_busy();
    ask_for_release();
    expect_released();
}

TEST_P(BusyServer, ReleasesANodeWithoutItsWatch) {
    join();
    patch_release();
    while (!is_releasing()) turn(1);
    management_.is_mute = true;
    turn(up_to(20));
    write_as_another();
    expect_released();
}

TEST_P(BusyServer, ReleasesAHostWhoseJoinFails) {
    start();
    make_secret();
    be_busy();
    patch_assignment();
    const json annotations{{"byoh.infrastructure.cluster.x-k8s.io/k8sversion", "v1.banana"}};
    management_.patch(kHost, {{"metadata", {{"annotations", annotations}}}});
    turn(up_to(300));
    writes_ += 3;
    patch_release();
    expect_released();
}

}  // namespace
}  // namespace kubexm::agent
