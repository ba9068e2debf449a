#pragma once

#include <functional>

#include "daemon/agent/context.hpp"
#include "daemon/kube/api.hpp"
#include "daemon/kube/request_backoff.hpp"
#include "daemon/loop/loop.hpp"
#include "daemon/model/host.hpp"

namespace kubexm::agent {

/// Creates this host's ByoHost where it is missing, and writes the facts into it. Retries for ever.
class Registration {
public:
    struct Listener {
        /// The ByoHost has these facts.
        std::function<void(const model::HostFacts& written)> on_done;
        /// A ByoHost is about to be created.
        std::function<void()> on_creating;
        /// The ByoHost that is there already.
        std::function<void(const nlohmann::json& object)> on_found;
        /// A new ByoHost, as the server has it.
        std::function<void(const nlohmann::json& object)> on_created;
        std::function<void(const kube::Failure&)> on_failure;
    };
    Registration(AgentContext& context, kube::Api& api, Listener listener);
    void start();
    /// The ByoHost was deleted: create it again, with back-off.
    void restart();

private:
    using Answer = kube::Answer<nlohmann::json>;
    void create();
    void update();
    void report_facts();
    /// `next` after a success, else start() again later.
    void proceed(const Answer& answer, void (Registration::*next)());
    void finish() { listener_.on_done(facts_); }

    AgentContext& context_;
    kube::Api& api_;
    Listener listener_;
    model::HostFacts facts_;  // that are written
    kube::Api::Handle call_;
    Loop::Handle retry_;
    kube::RequestBackoff backoff_;
};

}  // namespace kubexm::agent
