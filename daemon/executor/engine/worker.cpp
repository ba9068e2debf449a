#include "daemon/executor/engine/worker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "daemon/model/step.hpp"

namespace kubexm::executor {

namespace {

constexpr std::size_t kMaxWaitingPlans = 4;
// Each may come with 64 descriptors; the unit's limit is 8192.
constexpr std::size_t kMaxQueriesOfUser = 32;
constexpr int kQueriesAtOnce = 8;

template <typename... Types>
constexpr std::chrono::seconds longest_deadline(const std::variant<Types...>*) {
    return std::max({Types::kTraits.deadline...});
}

constexpr auto kLongestWork =
    longest_deadline(static_cast<const model::Step*>(nullptr)) + std::chrono::minutes(1);

}  // namespace

Worker::Worker() : thread_([this](const std::stop_token& end) { run(end); }) {}

void Worker::finish() {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
}

bool Worker::query(std::uint32_t user, Query query) {
    {
        const std::scoped_lock lock(mutex_);
        std::deque<Query>& of_user = queries_[user];
        if (of_user.size() >= kMaxQueriesOfUser) return false;
        of_user.push_back(std::move(query));
    }
    changed_.notify_one();
    return true;
}

void Worker::query_of_root(Query query) {
    {
        const std::scoped_lock lock(mutex_);
        queries_[0].push_back(std::move(query));
    }
    changed_.notify_one();
}

bool Worker::plan(std::uint32_t user, RunPlan plan, RunPlan drop) {
    {
        const std::scoped_lock lock(mutex_);
        const auto of_others =
            std::ranges::count_if(plans_, [](const Waiting& waiting) { return waiting.user != 0; });
        if (plans_.size() >= kMaxWaitingPlans) return false;
        if (user != 0 && std::cmp_greater_equal(of_others, kMaxWaitingPlans - 1)) return false;
        plans_.push_back({user, std::move(plan), std::move(drop)});
    }
    changed_.notify_one();
    return true;
}

bool Worker::plan_of_root(RunPlan plan) {
    std::vector<Waiting> dropped;
    bool fits = false;
    {
        const std::scoped_lock lock(mutex_);
        const auto others =
            std::ranges::stable_partition(plans_, [](const Waiting& w) { return w.user == 0; });
        std::ranges::move(others, std::back_inserter(dropped));
        plans_.erase(others.begin(), others.end());
        fits = plans_.size() < kMaxWaitingPlans;
        if (fits) plans_.push_back({0, std::move(plan), [] {}});
    }
    for (Waiting& waiting : dropped) waiting.drop();
    changed_.notify_one();
    return fits;
}

Stop Worker::begin_plan(std::string id, std::uint32_t user) {
    const std::scoped_lock lock(mutex_);
    running_ = std::move(id);
    running_user_ = user;
    plan_stop_ = {};
    return {plan_stop_.get_token(), thread_.get_stop_token()};
}

void Worker::stop_plan_for(std::uint32_t user) {
    const std::scoped_lock lock(mutex_);
    if (!may_stop(user)) return;
    plan_stop_.request_stop();
    changed_.notify_one();
}

Result<bool> Worker::stop_plan(const std::string& id, std::uint32_t user) {
    const std::scoped_lock lock(mutex_);
    if (id.empty() || id != running_) {
        return fail(Code::not_found, fmt::format("plan {} is not running", id));
    }
    if (!may_stop(user)) return fail(Code::denied, fmt::format("plan {} is root's", id));
    const bool is_first = plan_stop_.request_stop();
    changed_.notify_one();
    return is_first;
}

bool Worker::pop_query(Query& query) {
    const std::scoped_lock lock(mutex_);
    if (queries_.empty()) return false;
    auto next = queries_.upper_bound(served_);
    if (next == queries_.end()) next = queries_.begin();
    auto& [user, of_user] = *next;
    served_ = user;
    query = std::move(of_user.front());
    of_user.pop_front();
    if (of_user.empty()) queries_.erase(next);
    return true;
}

void Worker::serve_queries() {
    timer_.begin();
    Query query;
    for (int i = 0; i < kQueriesAtOnce && pop_query(query); ++i) {
        query();
        timer_.begin();
    }
}

void Worker::serve_queries_for(std::chrono::seconds time, const Stop& stop) {
    const auto until = std::chrono::steady_clock::now() + time;
    const auto stops = [&] { return stop.cancel.stop_requested() || stop.leave.stop_requested(); };
    while (!stops() && std::chrono::steady_clock::now() < until) {
        serve_queries();
        std::unique_lock lock(mutex_);
        timer_.end();
        changed_.wait_until(lock, stop.leave, until, [&] { return !queries_.empty() || stops(); });
    }
    timer_.begin();
}

bool Worker::alive() const { return !timer_.is_stuck(kLongestWork); }

void Worker::run(const std::stop_token& end) {
    while (!end.stop_requested()) {
        serve_queries();
        RunPlan next;
        {
            std::unique_lock lock(mutex_);
            running_.clear();
            timer_.end();
            changed_.wait(lock, end, [this] { return !queries_.empty() || !plans_.empty(); });
            if (end.stop_requested() || plans_.empty()) continue;
            next = std::move(plans_.front().run);
            plans_.pop_front();
        }
        timer_.begin();
        next();
    }
}

}  // namespace kubexm::executor
