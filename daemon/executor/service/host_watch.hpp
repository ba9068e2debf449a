#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "daemon/base/backoff.hpp"
#include "daemon/base/error.hpp"
#include "daemon/executor/engine/worker.hpp"
#include "daemon/executor/host/path_watch.hpp"
#include "daemon/executor/host/unit_watch.hpp"
#include "daemon/loop/loop.hpp"

namespace kubexm::executor {

/// Says when something on the host may have changed, by events: paths, forwarding, units. Loop
/// thread.
class HostWatch {
public:
    struct Listener {
        std::function<void(const std::set<std::string>& units)> on_units;
        std::function<void()> on_objects;
    };

    /// `bus` is an address for tests; empty: the system bus. All of it outlives the watch.
    HostWatch(Loop& loop, Worker& worker, const Root& root, std::string bus, Listener listener);

    /// From now on these units; connects to the bus again after it was lost.
    void watch_units(std::vector<std::string> units);
    /// As PathWatch::watch(), and forwarding. After an error call it again: it tries the paths that
    /// could not be watched.
    Result<bool> watch_paths(const std::vector<std::string>& paths);

private:
    Result<> start_paths();
    Result<> start_forwarding();
    void open_bus();
    void on_bus(Result<UnitWatch> opened);
    void read_bus();
    void lose_bus();
    void read_paths();

    Loop& loop_;
    Worker& worker_;
    const Root& root_;
    std::string bus_address_;
    Listener listener_;
    std::vector<std::string> units_;
    std::optional<UnitWatch> bus_;
    Loop::Handle bus_source_;
    Loop::Handle retry_;
    Backoff backoff_{std::chrono::seconds(1), std::chrono::seconds(60)};
    std::optional<PathWatch> paths_;
    Loop::Handle paths_source_;
    Fd forwarding_;
    Loop::Handle forwarding_source_;
    std::uint64_t generation_ = 0;  // of units_: a connection for older ones is dropped
};

}  // namespace kubexm::executor
