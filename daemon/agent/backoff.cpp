#include "daemon/agent/backoff.hpp"

#include <algorithm>
#include <random>

namespace kubexm::agent {

Backoff::Milliseconds Backoff::next() {
    static std::minstd_rand random{std::random_device{}()};
    std::uniform_int_distribution<Milliseconds::rep> extra(0, delay_.count() / 2);
    const Milliseconds now = delay_ + Milliseconds(extra(random));
    delay_ = std::min(2 * delay_, slowest_);
    return now;
}

}  // namespace kubexm::agent
