#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/agent/activity.hpp"
#include "daemon/agent/name_check.hpp"
#include "daemon/kube/api.hpp"
#include "daemon/model/preflight.hpp"

namespace kubexm::agent {

struct Checked {
    std::vector<model::Finding> findings;
    std::optional<std::unexpected<Error>> unreachable;  // the API server, which may come back
};

/// The checks before a join: of the host by the executor; of the API server, the clock and the
/// lookup of the host's name by kubexmd. All at once.
class JoinChecks : public Activity<Checked> {
public:
    JoinChecks(AgentContext& context, model::JoinNeeds needs, kube::ClusterCredentials credentials,
               Done done);
    void start() override;

private:
    void ask_executor();
    void ask_server();
    void look_up_name();
    void on_server(const kube::Answer<nlohmann::json>& answer);
    void add(model::Finding finding);
    bool is_ignored(model::CheckId check) const;
    void end_one();

    model::JoinNeeds needs_;
    kube::ClusterCredentials credentials_;
    Checked checked_;
    std::vector<std::string> ignored_;  // by root
    int open_ = 3;
    std::unique_ptr<kube::Api> api_;
    kube::Api::Handle call_;
    std::unique_ptr<NameCheck> name_;
};

/// The finding of a clock that is too far from the server's; none: it is near enough. Pure.
std::optional<model::Finding> clock_finding(std::chrono::seconds offset);

}  // namespace kubexm::agent
