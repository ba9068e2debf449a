#include "daemon/kube/watch.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "daemon/kube/failure.hpp"
#include "daemon/kube/query.hpp"
#include "daemon/kube/request_backoff.hpp"
#include "daemon/kube/watch_event.hpp"

namespace kubexm::kube {

namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

// The server ends a watch after a time that we choose, at random to spread the load.
constexpr int kShortestWatch = 300;
constexpr int kLongestWatch = 600;
constexpr auto kGrace = 30s;                        // after which we end the watch ourselves
constexpr std::chrono::milliseconds kAnswer = 30s;  // a watch is answered at once

bool is_same(const Answer<void>& a, const Answer<void>& b) {
    if (a.has_value() != b.has_value()) return false;
    return a.has_value() || a.error().error == b.error().error;
}

/// The server no longer has the version, or does not have it yet after a restore.
bool is_wrong_version(const Failure& failure) {
    return failure.error.code == Code::exhausted || failure.status == HttpStatus::gateway_timeout;
}

}  // namespace

// Callbacks may destroy the Watch: a function that calls them holds a reference and checks
// is_dropped afterwards.
struct Watch::Impl : std::enable_shared_from_this<Impl> {
    Impl(Loop& the_loop, Api& the_api, Random the_random, std::string the_collection,
         std::string the_name, Listener the_listener, const WatchLimits& the_limits)
        : loop(the_loop),
          api(the_api),
          random(std::move(the_random)),
          collection(std::move(the_collection)),
          name(std::move(the_name)),
          listener(std::move(the_listener)),
          limits(the_limits) {}

    std::string path(std::string_view more) const;
    void list();
    void begin_after(const json& known);
    void on_list(Answer<json> answer);
    void watch();
    void on_line(std::string_view line);
    void expect_success();
    void expect_bookmarks();
    void expect_within(std::chrono::milliseconds time);
    void on_event(WatchEvent event);
    void on_end(Answer<void> ended);
    void retry(const Failure& failure, void (Impl::*what)());
    void set_object(json object);
    void set_state(Answer<void> state);
    void drop();

    Loop& loop;
    Api& api;
    Random random;
    std::string collection;
    std::string name;
    Listener listener;
    WatchLimits limits;

    // To list or watch from; empty: the newest, which the first list demands so that a lagging
    // server does not show stale assignments.
    std::string version;
    std::optional<json> object;  // of the last on_object; nothing: none yet
    std::optional<Answer<void>> state;
    RequestBackoff backoff;
    Clock::time_point watching_since;
    Api::Handle request;
    Loop::Handle timer;
    Loop::Handle silence;        // ends a watch that is not answered, or whose bookmarks stop
    bool had_bookmarks = false;  // in this watch or an earlier one
    bool has_waited = false;     // for the first bookmark
    bool is_dropped = false;
};

Watch::Watch(Loop& loop, Api& api, Random random, std::string collection, std::string name,
             Listener listener, const WatchLimits& limits)
    : impl_(std::make_shared<Impl>(loop, api, std::move(random), std::move(collection),
                                   std::move(name), std::move(listener), limits)) {}

Watch::~Watch() { impl_->drop(); }

void Watch::start() { impl_->list(); }

void Watch::start_after(const json& object) { impl_->begin_after(object); }

void Watch::Impl::drop() {
    is_dropped = true;
    request.reset();
    timer.reset();
    silence.reset();
}

std::string Watch::Impl::path(std::string_view more) const {
    std::string text =
        fmt::format("{}?fieldSelector=metadata.name%3D{}{}", collection, escaped(name), more);
    if (!version.empty()) text += "&resourceVersion=" + escaped(version);
    return text;
}

void Watch::Impl::list() {
    request = api.get(path(""), [this](Answer<json> answer) { on_list(std::move(answer)); });
}

void Watch::Impl::on_list(Answer<json> answer) {
    const auto kept = shared_from_this();
    if (!answer) {
        const bool try_newest = is_wrong_version(answer.error()) && !version.empty();
        if (try_newest) version.clear();
        return try_newest ? list() : retry(answer.error(), &Impl::list);
    }
    const auto items = answer->is_object() ? answer->find("items") : answer->end();
    version = version_of(*answer);
    if (items == answer->end() || !items->is_array() || version.empty()) {
        return retry({.error = {Code::invalid, collection + ": expected a list with a version"}},
                     &Impl::list);
    }
    json found;
    for (json& item : *items) {
        if (name_of(item) == name) found = std::move(item);
    }
    set_state({});
    if (!is_dropped) set_object(std::move(found));
    if (!is_dropped) watch();
}

void Watch::Impl::begin_after(const json& known) {
    const auto kept = shared_from_this();
    version = version_of(known);
    if (version.empty()) return list();
    set_object(known);
    if (!is_dropped) watch();
}

void Watch::Impl::watch() {
    const auto seconds =
        kShortestWatch + static_cast<int>(random() * (kLongestWatch - kShortestWatch));
    watching_since = Clock::now();
    request = api.stream(
        path(fmt::format("&watch=true&allowWatchBookmarks=true&timeoutSeconds={}", seconds)),
        std::chrono::seconds(seconds) + kGrace, [this](std::string_view line) { on_line(line); },
        [this](Answer<void> ended) { on_end(std::move(ended)); });
    expect_within(std::min(limits.most_silence, kAnswer));
}

void Watch::Impl::on_line(std::string_view line) {
    if (line.empty()) {
        expect_bookmarks();
        return expect_success();
    }
    const auto kept = shared_from_this();
    auto event = read_event(line);
    if (event) return on_event(std::move(*event));
    request.reset();
    on_end(std::unexpected(Failure{.error = event.error()}));
}

/// An accepted watch counts as working once it has lasted, also without events.
void Watch::Impl::expect_success() {
    if (state && state->has_value()) return;
    auto waiting =
        loop.after(limits.shortest, [kept = shared_from_this()] { kept->set_state({}); });
    if (waiting) timer = std::move(*waiting);
}

/// A server that sends bookmarks sends one every minute. Of one that has sent none yet they are
/// expected once: it may be of another kind.
void Watch::Impl::expect_bookmarks() {
    silence.reset();
    if (had_bookmarks || !std::exchange(has_waited, true)) expect_within(limits.most_silence);
}

/// A proxy may keep the connection to us after it lost its own, and a connection may be older than
/// the server.
void Watch::Impl::expect_within(std::chrono::milliseconds time) {
    auto waiting = loop.after(time, [kept = shared_from_this()] {
        kept->request.reset();
        kept->list();
    });
    if (waiting) silence = std::move(*waiting);
}

void Watch::Impl::on_event(WatchEvent event) {
    if (event.type == WatchEvent::Type::error) {
        request.reset();
        return on_end(std::unexpected(failure_of("watch of " + collection, event.object)));
    }
    set_state({});
    if (is_dropped) return;
    if (event.type == WatchEvent::Type::bookmark) {
        version = event.version;
        had_bookmarks = true;
    }
    if (had_bookmarks) expect_within(limits.most_silence);
    const bool is_change = event.type == WatchEvent::Type::changed;
    if (event.name != name || (!is_change && event.type != WatchEvent::Type::deleted)) return;
    version = event.version;
    set_object(is_change ? std::move(event.object) : json());
}

/// After a failure the server may have been restored from a backup. It would keep a watch from a
/// version that it does not have yet, and send nothing; a list finds out.
void Watch::Impl::on_end(Answer<void> ended) {
    const auto kept = shared_from_this();
    timer.reset();
    silence.reset();
    const bool was_short = Clock::now() - watching_since < limits.shortest;
    const auto next = ended ? &Impl::watch : &Impl::list;
    if (!was_short) backoff.reset();
    if (!was_short && (ended || is_wrong_version(ended.error()))) return (this->*next)();
    const Failure failure = ended ? Failure{.error = {Code::unavailable, "watch of " + collection +
                                                                             ": ended immediately"}}
                                  : ended.error();
    retry(failure, next);
}

void Watch::Impl::retry(const Failure& failure, void (Impl::*what)()) {
    auto waiting = loop.after(backoff.next(failure, random()), [this, what] { (this->*what)(); });
    if (waiting) timer = std::move(*waiting);  // else the loop has ended
    set_state(std::unexpected(failure));
}

void Watch::Impl::set_object(json now) {
    if (object == now) return;
    object = std::move(now);
    listener.on_object(*object);
}

void Watch::Impl::set_state(Answer<void> now) {
    if (state && is_same(*state, now)) return;
    state = std::move(now);
    listener.on_change(*state);
}

}  // namespace kubexm::kube
