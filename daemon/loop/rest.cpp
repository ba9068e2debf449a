#include "daemon/loop/rest.hpp"

#include <utility>

namespace kubexm {

Rest::Rest(Loop& loop, Loop::Callback then, std::chrono::milliseconds quiet)
    : loop_(loop), then_(std::move(then)), quiet_(quiet) {}

void Rest::stir() {
    // Where there is no timer the rest goes without what comes after it.
    if (auto timer = loop_.after(quiet_, [this] { then_(); })) timer_ = *std::move(timer);
}

}  // namespace kubexm
