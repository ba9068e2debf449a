#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "daemon/agent/activity.hpp"
#include "daemon/agent/join_strategy.hpp"
#include "daemon/kube/api.hpp"
#include "daemon/kube/pod.hpp"

namespace kubexm::agent {

/// Ends the pods of this node while its kubelet runs, so that they get their hooks and their time:
/// cordons the node, evicts the pods that another node can run, and waits for their end. At the end
/// of the configured time the pods that a disruption budget protects are deleted. Does not fail: a
/// release goes on in any case. Its outcome is a remark for a person, or empty.
class Draining : public Activity<std::string> {
public:
    Draining(AgentContext& context, const JoinStrategy& strategy, std::string owner, Done done);
    ~Draining() override;
    void start() override;
    /// At its end: the connection to the node's cluster, or null.
    std::unique_ptr<kube::Api> take_connection();

private:
    void list();
    void list_page(const std::string& page);
    void on_page(const nlohmann::json& list);
    void on_pods(std::vector<kube::PodRecord> pods);
    void find_node();
    void cordon(const model::NodeRecord& node);
    void on_cordoned();
    void ask_next();
    void on_asked(const kube::Answer<nlohmann::json>& answer);
    void expect_end();
    void wait();
    void end(const std::string& note);
    void give_up(const std::string& why);
    bool has_running_kubelet() const;

    const JoinStrategy& strategy_;
    std::string owner_;
    std::unique_ptr<kube::Api> api_;
    kube::Api::Handle call_;
    Loop::Handle timer_;     // until the next list
    Loop::Handle deadline_;  // of evictions, then of deletions
    bool is_cordoned_ = false;
    bool is_late_ = false;                 // the time is over: budgets are not respected any more
    bool is_deleting_ = false;             // and so the rest is deleted
    bool is_over_ = false;                 // nothing is waited for any more
    std::vector<kube::PodRecord> listed_;  // by the pages so far
    int pages_ = 0;
    std::vector<kube::PodRecord> left_;  // to evict or delete in this round, the last one first
    std::set<std::string> silent_;       // of these, requests got no answer
    std::vector<std::string> deleted_;   // against their budgets
};

}  // namespace kubexm::agent
