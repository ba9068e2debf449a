#include "daemon/hands/executor/worker.hpp"

#include <utility>

namespace kubexm::hands {

namespace {

constexpr std::size_t kMaxWaitingPlans = 4;
constexpr std::size_t kMaxWaitingLooks = 256;
constexpr auto kLongestWork = std::chrono::minutes(6);  // a step's deadline and some

}  // namespace

Worker::Worker() : thread_([this](const std::stop_token& end) { run(end); }) {}

void Worker::finish() {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
}

bool Worker::look(Look look) {
    {
        const std::scoped_lock lock(mutex_);
        if (looks_.size() >= kMaxWaitingLooks) return false;
        looks_.push_back(std::move(look));
    }
    changed_.notify_one();
    return true;
}

bool Worker::plan(Plan plan) {
    {
        const std::scoped_lock lock(mutex_);
        if (plans_.size() >= kMaxWaitingPlans) return false;
        plans_.push_back(std::move(plan));
    }
    changed_.notify_one();
    return true;
}

Stop Worker::begin_plan(std::string id) {
    const std::scoped_lock lock(mutex_);
    running_ = std::move(id);
    plan_stop_ = {};
    return {plan_stop_.get_token(), thread_.get_stop_token()};
}

void Worker::stop_plan() {
    const std::scoped_lock lock(mutex_);
    plan_stop_.request_stop();
}

bool Worker::stop_plan(std::string_view id) {
    const std::scoped_lock lock(mutex_);
    if (id.empty() || id != running_) return false;
    plan_stop_.request_stop();
    return true;
}

bool Worker::take_look(Look& look) {
    const std::scoped_lock lock(mutex_);
    if (looks_.empty()) return false;
    look = std::move(looks_.front());
    looks_.pop_front();
    return true;
}

void Worker::serve_looks() {
    pulse_.beat();
    for (Look look; take_look(look); pulse_.beat()) look();
}

bool Worker::alive() const { return pulse_.alive(kLongestWork); }

void Worker::run(const std::stop_token& end) {
    while (!end.stop_requested()) {
        serve_looks();
        Plan next;
        {
            std::unique_lock lock(mutex_);
            running_.clear();
            pulse_.rest();
            changed_.wait(lock, end, [this] { return !looks_.empty() || !plans_.empty(); });
            if (end.stop_requested() || !looks_.empty()) continue;
            next = std::move(plans_.front());
            plans_.pop_front();
        }
        pulse_.beat();
        next();
    }
}

}  // namespace kubexm::hands
