#pragma once

#include <memory>
#include <utility>

namespace kubexm::agent {

/// A member of those who leave callbacks with others: what is guarded does nothing once they are
/// gone.
class LifetimeGuard {
public:
    template <typename Function>
    auto guard(Function function) const {
        return [weak = std::weak_ptr<int>(token_),
                function = std::move(function)](auto&&... arguments) mutable {
            if (weak.lock()) function(std::forward<decltype(arguments)>(arguments)...);
        };
    }

private:
    std::shared_ptr<int> token_ = std::make_shared<int>();
};

}  // namespace kubexm::agent
