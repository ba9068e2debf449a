#pragma once

#include <memory>
#include <utility>

#include "daemon/loop/loop.hpp"

namespace kubexm::agent {

/// Member of an object that leaves callbacks with others: a guarded callback does nothing once the
/// object is destroyed.
class LifetimeGuard {
public:
    template <typename Function>
    auto guard(Function function) const {
        return [weak = std::weak_ptr<int>(token_),
                function = std::move(function)](auto&&... arguments) mutable {
            if (weak.lock()) function(std::forward<decltype(arguments)>(arguments)...);
        };
    }

    /// Calls `done`, a member of the object, once and from the loop: it may destroy the object,
    /// which must not happen inside of the object's own callbacks.
    template <typename Done, typename Outcome>
    void finish(Loop& loop, Done& done, Outcome outcome) const {
        loop.post(guard([&done, outcome = std::move(outcome)]() mutable {
            if (Done call = std::exchange(done, nullptr)) call(std::move(outcome));
        }));
    }

private:
    std::shared_ptr<int> token_ = std::make_shared<int>();
};

}  // namespace kubexm::agent
