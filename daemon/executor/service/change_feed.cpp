#include "daemon/executor/service/change_feed.hpp"

#include <algorithm>

#include "daemon/base/log.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/host/kernel.hpp"
#include "daemon/executor/service/own_queries.hpp"
#include "daemon/executor/service/replies.hpp"

namespace kubexm::executor {

namespace {

using namespace std::chrono_literals;

// Changes come in groups: an editor writes, renames and sets a mode.
constexpr std::chrono::milliseconds kDebounce = 300ms;
// A start has several states, and systemd is busy with it.
constexpr std::chrono::milliseconds kUnitsDebounce = 100ms;

/// The allow-listed units, and those of a node in any case. Worker thread.
std::vector<std::string> units_to_watch(const Engine& engine) {
    std::vector<std::string> units = engine.allowed().units;
    for (const char* name : {"kubelet.service", "containerd.service"}) {
        if (std::ranges::find(units, name) == units.end()) units.emplace_back(name);
    }
    return units;
}

/// Worker thread.
Result<wire::UnitsChanged> states_of(Engine& engine, const std::set<std::string>& names) {
    wire::UnitsChanged states;
    for (const std::string& name : names) {
        auto unit = TRY(engine.unit(name));
        states.units.push_back({name, unit.active, unit.enablement});
    }
    return states;
}

}  // namespace

ChangeFeed::ChangeFeed(Loop& loop, Worker& worker, Engine& engine, std::string bus, Send send)
    : loop_(loop), worker_(worker), engine_(engine), bus_(std::move(bus)), send_(std::move(send)) {}

void ChangeFeed::on_subscriber() {
    sent_.reset();
    if (!watch_) {
        watch_.emplace(
            loop_, worker_, engine_.root(), bus_,
            HostWatch::Listener{[this](const std::set<std::string>& units) { on_units(units); },
                                [this] { check_soon(); }});
        on_allowed();
    }
    check_soon();
}

void ChangeFeed::on_allowed() {
    if (!watch_) return;
    worker_.query(kOwnQueries, [this] {
        loop_.post([this, units = units_to_watch(engine_)] { watch_->watch_units(units); });
    });
}

void ChangeFeed::on_units(const std::set<std::string>& units) {
    changed_units_.insert(units.begin(), units.end());
    read_units_soon();
    check_soon();
}

void ChangeFeed::read_units_soon() {
    if (reading_units_ || units_timer_) return;
    auto timer = loop_.after(kUnitsDebounce, [this] {
        units_timer_.reset();
        read_units();
    });
    if (timer) units_timer_ = *std::move(timer);
}

/// On the worker's thread, as an observation is: a later message never has an older state.
void ChangeFeed::read_units() {
    const auto names = std::exchange(changed_units_, {});
    reading_units_ = worker_.query(kOwnQueries, [this, names] {
        auto states = states_of(engine_, names);
        loop_.post([this, names, states = std::move(states)] {
            reading_units_ = false;
            if (!states) return read_units_later(names);
            send_(*states);
            if (!changed_units_.empty()) read_units_soon();
        });
    });
    if (!reading_units_) read_units_later(names);  // the queue is full
}

void ChangeFeed::read_units_later(const std::set<std::string>& names) {
    changed_units_.insert(names.begin(), names.end());
    check_later();
}

void ChangeFeed::check_soon() {
    if (!watch_ || timer_) return;
    auto timer = loop_.after(kDebounce, [this] {
        timer_.reset();
        check();
    });
    if (timer) timer_ = *std::move(timer);
}

void ChangeFeed::check() {
    retry_.reset();
    check_again_ = checking_;
    if (checking_) return;
    checking_ = worker_.query(kOwnQueries, [this] {
        auto report = engine_.drift();
        loop_.post([this, report = std::move(report)]() mutable {
            checking_ = false;
            if (report) on_report(*report);
            on_problem(report ? report->problem : report.error());
            if (std::exchange(check_again_, false)) check_soon();
        });
    });
    if (!checking_) check_later();
}

/// An object that cannot be compared, such as a unit while systemd does not answer, causes no event
/// when it can be compared again.
void ChangeFeed::on_problem(const std::optional<Error>& problem) {
    const std::string text = problem ? problem->what : "";
    if (!problem) backoff_.reset();
    if (problem) check_later();
    if (problem && text != problem_) log::warning("drift is not fully known: " + text);
    problem_ = text;
}

void ChangeFeed::check_later() {
    auto timer = loop_.after(backoff_.next(/*jitter=*/0), [this] {
        retry_.reset();
        check_soon();
        if (!changed_units_.empty()) read_units_soon();
    });
    if (timer) retry_ = *std::move(timer);
}

/// Paths that cannot be watched are compared again with a back-off, and subscribers are told:
/// "nothing differs" would promise that changes are noticed.
void ChangeFeed::on_report(DriftReport& report) {
    if (!watch_) return;
    const auto is_new = watch_->watch_paths(report.paths);
    if (is_new && *is_new) check_soon();
    if (!is_new) {
        report.problem = is_new.error();
        report.objects.push_back({std::string(wire::kWatchOwner), "the watch of the host",
                                  "not every change is noticed at once: " + is_new.error().what});
    }
    if (!report.decided) return;
    settings_ = report.settings;
    // "Nothing differs" would be said of objects that were not compared.
    const bool is_silent = report.problem && report.objects.empty();
    if (is_silent || sent_ == report.objects) return;
    sent_ = report.objects;
    send_(drift_of(report));
}

void ChangeFeed::on_wake_up() {
    if (!watch_) return;
    const bool differs = std::ranges::any_of(settings_, [this](const model::Sysctl& seen) {
        return read_sysctl(engine_.root(), seen.key).value_or(kAbsent) != seen.value;
    });
    if (differs) check_soon();
}

}  // namespace kubexm::executor
