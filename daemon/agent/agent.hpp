#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "daemon/agent/board.hpp"
#include "daemon/agent/hands_talk.hpp"
#include "daemon/agent/management.hpp"
#include "daemon/agent/reconciler.hpp"
#include "daemon/agent/store.hpp"
#include "daemon/agent/world.hpp"

namespace kubexm::agent {

/// Everything kubexmd decides, put together. Loop thread, but for snapshot().
class Agent {
public:
    struct Options {
        std::string program;  // "kubexmd 0.1.0", as the hands are told
        std::string version;
        std::string hands_socket;
        std::string state;  // our directory
        std::string host_name;
        std::string space;
        std::string bootstrap_kubeconfig;
        /// Told when the hands answer, and when they do not: nothing more is waited for.
        std::function<void()> on_ready;
        Board::Listener on_change;
    };
    static Result<std::unique_ptr<Agent>> create(Loop& loop, Options options);

    void start();
    /// What is to be shown. Any thread. Whoever asks makes us look again, so that what is shown
    /// next is not older than the asking.
    std::shared_ptr<const model::Snapshot> snapshot();

private:
    Agent(Loop& loop, Options options, Store store, const model::HostFacts& facts);

    Loop& loop_;
    Options options_;
    Store store_;
    Board board_;
    HandsTalk hands_;
    HandsTalk reports_;
    World world_;
    Management management_;
    Reconciler reconciler_;
    std::atomic<bool> looking_ = false;
};

}  // namespace kubexm::agent
