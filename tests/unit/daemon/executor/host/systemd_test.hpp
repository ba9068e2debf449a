#pragma once

#include <chrono>

#include "daemon/executor/host/systemd.hpp"
#include "fake_systemd.hpp"
#include "scratch.hpp"

// What the tests of Systemd share.

namespace kubexm::executor {

using namespace std::chrono_literals;

inline Systemd::Deadline in(std::chrono::milliseconds time) {
    return std::chrono::steady_clock::now() + time;
}
inline Systemd::Deadline soon() { return in(30s); }

class SystemdTest : public ::testing::Test {
protected:
    FakeSystemd fake;
    Systemd systemd{fake.address()};
};

/// An answer that is an error.
inline FakeSystemd::Answer refusal(const std::string& name, const std::string& words = "no") {
    return [name, words](Peer& peer, sd_bus_message* call) {
        peer.refuse(call, name.c_str(), words.c_str());
    };
}

/// An answer with a job that ends in this way.
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
