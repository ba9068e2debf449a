#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include "daemon/agent/context.hpp"
#include "daemon/kube/api.hpp"
#include "daemon/kube/request_backoff.hpp"
#include "daemon/model/host.hpp"

namespace kubexm::agent {

/// Writes the conditions of the AgentState to the ByoHost, and frees it. Writes only differences,
/// with the resourceVersion that was read, and again after a conflict. A message alone, such as the
/// progress of a plan, is written every few seconds at most.
class Reporter {
public:
    explicit Reporter(AgentContext& context);

    /// The API to write to; null: none, the last one is about to be destroyed.
    void use(kube::Api* api);
    /// Writes the conditions that differ.
    void update();
    /// Frees the ByoHost with the two patches of its API, again after a conflict. `done` gets false
    /// where one of them failed, where the ByoHost asks for no release any more, or where use()
    /// changes the API. Does nothing while another call is under way.
    void free_host(std::function<void(bool)> done);

private:
    using Answer = kube::Answer<nlohmann::json>;
    std::string server_time() const;
    void write(const model::HostRecord& host, const std::vector<model::Condition>& conditions);
    void on_written(const Answer& answer);
    void on_host(const nlohmann::json& object);
    void read_host();
    void free_now();
    void on_status_freed(const Answer& answer);
    void on_not_freed(const Error& error);
    void end_free(bool freed);
    void update_later(std::chrono::milliseconds delay);

    AgentContext& context_;
    kube::Api* api_ = nullptr;
    kube::Api::Handle call_;
    bool writing_ = false;
    std::function<void(bool)> free_;  // of free_host(), until its end
    int free_tries_ = 0;
    bool failed_ = false;  // retry_ waits
    std::chrono::sys_seconds last_write_;
    Loop::Handle retry_;
    kube::RequestBackoff backoff_;
};

enum class Difference { none, message, reason, status };

/// How the conditions differ from those of the ByoHost; its other conditions do not count. status:
/// also another severity, such as that of an error; reason: also a condition that is new. Pure.
Difference difference(const model::HostRecord& host, const std::vector<model::Condition>& ours);

}  // namespace kubexm::agent
