#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <random>
#include <string>

#include "daemon/agent/agent.hpp"
#include "daemon/agent/conditions.hpp"
#include "daemon/agent/facts.hpp"
#include "daemon/base/base64.hpp"
#include "simulated_cluster.hpp"
#include "simulated_executor.hpp"
#include "simulated_time.hpp"
#include "tests/unit/daemon/loop/running_loop.hpp"
#include "tests/unit/temp_directory.hpp"

namespace kubexm::agent {

/// kubexmd's decisions with a management cluster, a workload cluster, an executor and a clock in
/// memory: events in; plans, conditions and requests out.
class Harness : public testing::Test {
protected:
    using json = nlohmann::json;
    static constexpr std::uint32_t kPerson = 4711;
    static constexpr const char* kHost =
        "/apis/infrastructure.cluster.x-k8s.io/v1beta1/namespaces/default/byohosts/h1";
    static constexpr const char* kEvents = "/api/v1/namespaces/default/events";
    static constexpr const char* kNode = "/api/v1/nodes/h1";
    static constexpr const char* kSecret = "/api/v1/namespaces/default/secrets/workers-1-bootstrap";

    Harness();

    void start();
    /// Without the turns of the loop that follow.
    void begin();
    /// kubexmd ends and starts again.
    void restart();
    void settle();
    /// At most so many turns of the loop; false: it became idle before.
    bool turn(int turns);
    void advance(std::chrono::seconds duration);
    /// What kubexmd reads on the host now.
    model::HostFacts facts() const;

    /// The orders of the management cluster.
    void assign(const std::string& uid = "u1", const std::string& name = "workers-1");
    void make_secret(const std::string& kubelet_config = "");
    void ask_for_release();
    void withdraw_release();
    // The same without the turns of the loop that follow.
    void patch_assignment(const std::string& uid = "u1", const std::string& name = "workers-1");
    void patch_release();
    // In another management cluster.
    void make_secret_in(SimulatedCluster& cluster, const std::string& kubelet_config = "");
    void patch_assignment_in(SimulatedCluster& cluster, const std::string& uid,
                             const std::string& name);
    void join();

    const AgentState& state() const { return agent_->state(); }
    model::Snapshot snapshot() const { return *agent_->snapshot(); }
    model::Phase phase() const { return snapshot().phase; }
    /// A condition of the local status; empty type: there is none.
    model::Condition shown(std::string_view type) const;
    /// A condition of the ByoHost.
    model::Condition reported(std::string_view type);
    /// The Events with this reason.
    std::vector<json> events(const std::string& reason) const;
    std::size_t count_requests(const SimulatedCluster& cluster, const std::string& text) const;
    void set_node(const char* ready);
    static std::string path_of(const std::string& pod);
    /// A pod that runs on the node.
    void put_pod(const std::string& name, const json& more = json::object());
    Result<std::string> command(model::Verb verb,
                                std::optional<std::chrono::seconds> duration = {});
    Result<std::string> command(model::Command command);
    /// The executor ends, and starts again; its plans go on.
    void lose_executor();
    void regain_executor();
    /// A command without the turns of the loop that follow.
    void begin(model::Verb verb);
    void begin_adoption() { begin(model::Verb::adopt); }
    /// kubexmd ends; what it has asked of the executor since the last turn never arrives.
    void kill_before_executor_is_asked();
    void patch_release(const json& value);
    /// Of the host's name.
    Result<Loop::Handle> answer_lookup(std::function<void()> done);

    SimulatedTime time_;
    Loop loop_ = must(Loop::create(time_.timers()));
    TempDirectory directory_;
    SimulatedCluster management_{loop_, "https://management:6443"};
    SimulatedCluster workload_{loop_, "https://workload:6443"};
    SimulatedCluster other_{loop_, "https://other:6443"};  // another management cluster
    SimulatedExecutor executor_{loop_};
    /// The same numbers in every run.
    Random random_ = [engine = std::minstd_rand()]() mutable {
        return std::uniform_real_distribution<double>(0, 1)(engine);
    };
    model::HostFacts facts_;
    bool answers_lookups_ = true;
    std::vector<Link> links_;           // of the host, beside those facts
    std::vector<model::Phase> phases_;  // that the status has shown, one after the other
    std::unique_ptr<Agent> agent_;
};

}  // namespace kubexm::agent
