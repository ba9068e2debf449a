#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "daemon/base/backoff.hpp"
#include "daemon/executor/engine/engine.hpp"
#include "daemon/executor/engine/worker.hpp"
#include "daemon/executor/service/host_watch.hpp"
#include "daemon/executor/wire/messages.hpp"
#include "daemon/loop/loop.hpp"

namespace kubexm::executor {

/// Events for subscribers: states of units and drift of objects. Does nothing before the first
/// subscriber. Loop thread.
class ChangeFeed {
public:
    /// Called for every event.
    using Send = std::function<void(const wire::Reply&)>;

    /// `bus` is an address for tests; empty: the system bus. All of it outlives the feed.
    ChangeFeed(Loop& loop, Worker& worker, Engine& engine, std::string bus, Send send);

    /// There is a subscriber more: drift is sent again, also where it is the same.
    void on_subscriber();
    /// The ledger may have changed. The present drift is sent, also where it is the same: a repair
    /// may have been undone while it ran.
    void on_plan_end() {
        sent_.reset();
        check_soon();
    }
    /// The allow-lists, which name the units, have changed.
    void on_allowed();
    /// The process is awake for another reason: settings that cannot be watched are compared with
    /// those of the last check.
    void on_wake_up();

private:
    void on_units(const std::set<std::string>& units);
    void read_units_soon();
    void read_units();
    void read_units_later(const std::set<std::string>& names);
    void check_soon();
    void check();
    void check_later();
    void on_problem(const std::optional<Error>& problem);
    void on_report(DriftReport& report);

    Loop& loop_;
    Worker& worker_;
    Engine& engine_;
    std::string bus_;
    Send send_;
    std::optional<HostWatch> watch_;
    std::set<std::string> changed_units_;  // to be read
    bool reading_units_ = false;
    Loop::Handle timer_;        // of the next check
    Loop::Handle units_timer_;  // of the next look at units
    Loop::Handle retry_;        // of objects that could not be read
    Backoff backoff_{std::chrono::seconds(1), std::chrono::minutes(5)};
    std::string problem_;                  // the last one
    std::vector<model::Sysctl> settings_;  // as the last check saw them
    bool checking_ = false;
    bool check_again_ = false;
    std::optional<std::vector<Drifted>> sent_;
};

}  // namespace kubexm::executor
