#pragma once

#include <chrono>

#include "daemon/executor/host/systemd.hpp"
#include "fake_systemd.hpp"
#include "scratch.hpp"

// Shared by the tests of Systemd.

namespace kubexm::executor {

using namespace std::chrono_literals;

inline Deadline in(std::chrono::milliseconds time) {
    return std::chrono::steady_clock::now() + time;
}
inline Deadline soon() { return in(30s); }

class SystemdTest : public ::testing::Test {
protected:
    FakeSystemd fake;
    Systemd systemd{fake.address()};
};

/// Replies with an error.
inline FakeSystemd::Answer refusal(const std::string& name, const std::string& message = "no") {
    return [name, message](Peer& peer, sd_bus_message* call) {
        peer.refuse(call, name.c_str(), message.c_str());
    };
}

/// Replies with a job that ends with this result.
inline FakeSystemd::Answer job_that_ends(const std::string& result) {
    return [result](Peer& peer, sd_bus_message* call) {
        peer.reply(call, "o", kJob);
        peer.end_job(kJob, result.c_str());
    };
}

inline void answer_with_endless_job(Peer& peer, sd_bus_message* call) {
    peer.reply(call, "o", kJob);
}

}  // namespace kubexm::executor
