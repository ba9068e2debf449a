#include "daemon/agent/label_fight.hpp"

namespace kubexm::agent {

std::optional<Backoff::Milliseconds> LabelFight::note_patch(const std::vector<model::Pair>& wanted,
                                                            std::chrono::sys_seconds now,
                                                            double jitter) {
    constexpr std::chrono::minutes kForget{30};
    const bool goes_on = is_about(wanted) && now >= last_ && now - last_ < kForget;
    if (!goes_on) end();
    wanted_ = wanted;
    last_ = now;
    ++patches_;
    if (!is_open()) return std::nullopt;
    return backoff_.next(jitter);
}

}  // namespace kubexm::agent
