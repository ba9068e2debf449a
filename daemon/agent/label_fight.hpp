#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "daemon/base/backoff.hpp"
#include "daemon/model/document.hpp"

namespace kubexm::agent {

/// Another controller may set labels of ours back; a watch would answer it at once, for ever. So
/// the first patches in a row are immediate, and each later one waits longer. Pure.
class LabelFight {
public:
    /// A patch has set the wanted labels. The time until the next one; nothing: none.
    std::optional<Backoff::Milliseconds> note_patch(const std::vector<model::Pair>& wanted,
                                                    std::chrono::sys_seconds now, double jitter);
    /// Whether the patches wait.
    bool is_open() const { return patches_ >= kImmediate; }
    bool is_about(const std::vector<model::Pair>& wanted) const { return wanted == wanted_; }
    void end() { *this = {}; }

private:
    static constexpr std::uint32_t kImmediate = 3;

    std::vector<model::Pair> wanted_;
    std::uint32_t patches_ = 0;  // in a row
    std::chrono::sys_seconds last_;
    Backoff backoff_{std::chrono::seconds(5), std::chrono::minutes(10)};
};

}  // namespace kubexm::agent
