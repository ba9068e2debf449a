#pragma once

#include <functional>
#include <string>

#include "daemon/base/backoff.hpp"
#include "daemon/kube/api.hpp"
#include "daemon/loop/loop.hpp"
#include "daemon/model/host.hpp"

namespace kubexm::agent {

/// Makes the ByoHost of this host where there is none, and brings what it says of the host up to
/// date. Tried again for as long as it takes.
class Registration {
public:
    struct Listener {
        std::function<void()> on_done;
        std::function<void(const kube::Failure&)> on_trouble;
    };
    Registration(Loop& loop, kube::Api& api, std::string host_namespace, model::HostFacts facts,
                 Listener listener);
    void start();
    /// Somebody has deleted it: not at once, and slower every time.
    void again();

private:
    using Answer = kube::Answer<nlohmann::json>;
    void create();
    void update();
    void report_facts();
    /// `next` where the answer is good, else everything again later.
    void go_on(const Answer& answer, void (Registration::*next)());
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
