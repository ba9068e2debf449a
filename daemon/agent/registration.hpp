#pragma once

#include <functional>
#include <string>

#include "daemon/base/backoff.hpp"
#include "daemon/kube/api.hpp"
#include "daemon/loop/loop.hpp"
#include "daemon/model/host.hpp"

namespace kubexm::agent {

/// Creates this host's ByoHost where it is missing, and updates the facts in it. Retries for ever.
class Registration {
public:
    struct Listener {
        std::function<void()> on_done;
        std::function<void(const kube::Failure&)> on_failure;
    };
    Registration(Loop& loop, kube::Api& api, std::string host_namespace, model::HostFacts facts,
                 Listener listener);
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
    void finish() { listener_.on_done(); }

    Loop& loop_;
    kube::Api& api_;
    std::string namespace_;
    model::HostFacts facts_;
    Listener listener_;
    kube::Api::Handle call_;
    Loop::Handle retry_;
    Backoff backoff_;
};

}  // namespace kubexm::agent
