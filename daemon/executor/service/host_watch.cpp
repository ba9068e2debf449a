#include "daemon/executor/service/host_watch.hpp"

#include <sys/epoll.h>

#include "daemon/base/route_events.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/host/forwarding_watch.hpp"
#include "daemon/executor/service/own_queries.hpp"

namespace kubexm::executor {

namespace {

using namespace std::chrono_literals;

constexpr auto kBusDeadline = 5s;

}  // namespace

HostWatch::HostWatch(Loop& loop, Worker& worker, const Root& root, std::string bus,
                     Listener listener)
    : loop_(loop),
      worker_(worker),
      root_(root),
      bus_address_(std::move(bus)),
      listener_(std::move(listener)) {}

Result<> HostWatch::start_paths() {
    if (paths_source_) return {};
    paths_ = TRY(PathWatch::create(root_));
    paths_source_ =
        TRY(loop_.on_io(paths_->fd(), EPOLLIN, [this](std::uint32_t) { read_paths(); }));
    return {};
}

Result<> HostWatch::start_forwarding() {
    if (forwarding_source_) return {};
    forwarding_ = TRY(watch_forwarding());
    forwarding_source_ = TRY(loop_.on_io(forwarding_.get(), EPOLLIN, [this](std::uint32_t) {
        drain_route_events(forwarding_.get());
        listener_.on_objects();
    }));
    return {};
}

Result<bool> HostWatch::watch_paths(const std::vector<std::string>& paths) {
    const auto forwarding = start_forwarding();
    TRY(start_paths());
    if (!paths_) return fail(Code::internal, "the watch of paths has not started");
    const bool is_new = TRY(paths_->watch(paths));
    if (!forwarding) return std::unexpected(forwarding.error());
    return is_new;
}

/// One that cannot be read is readable for ever: the next call of watch_paths() begins anew.
void HostWatch::read_paths() {
    if (!paths_) return;
    const auto changed = paths_->changed();
    if (!changed) paths_source_.reset();
    if (!changed || *changed) listener_.on_objects();
}

void HostWatch::watch_units(std::vector<std::string> units) {
    units_ = std::move(units);
    ++generation_;
    open_bus();
}

/// On the worker's thread, because it waits for the bus.
void HostWatch::open_bus() {
    const bool queued =
        worker_.query(kOwnQueries, [this, units = units_, number = generation_]() mutable {
            auto opened = UnitWatch::open(bus_address_, std::move(units),
                                          std::chrono::steady_clock::now() + kBusDeadline);
            loop_.post([this, number, opened = std::move(opened)]() mutable {
                if (number == generation_) on_bus(std::move(opened));
            });
        });
    if (!queued) lose_bus();
}

void HostWatch::on_bus(Result<UnitWatch> opened) {
    bus_source_.reset();
    if (!opened) return lose_bus();
    bus_ = *std::move(opened);
    auto source = loop_.on_io(bus_->fd(), EPOLLIN, [this](std::uint32_t) { read_bus(); });
    if (!source) return lose_bus();
    bus_source_ = *std::move(source);
    backoff_.reset();
    // Signals before this were lost, and those that came with the last reply are unread.
    listener_.on_units({units_.begin(), units_.end()});
    read_bus();
}

void HostWatch::read_bus() {
    if (!bus_) return;
    auto changed = bus_->changed();
    if (!changed) return lose_bus();
    if (!changed->empty()) listener_.on_units(*changed);
}

void HostWatch::lose_bus() {
    bus_source_.reset();
    bus_.reset();
    auto retry = loop_.after(backoff_.next(/*jitter=*/0), [this] { open_bus(); });
    if (retry) retry_ = *std::move(retry);
}

}  // namespace kubexm::executor
