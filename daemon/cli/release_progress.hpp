#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace kubexm::cli {

/// Turns the statuses that kubexmd shows during a release into lines for a person. Pure.
class ReleaseProgress {
public:
    /// The lines that are new since the last status.
    std::string update(const nlohmann::json& status);

    /// The exit code; nothing while the release goes on.
    std::optional<int> end() const { return end_; }

private:
    std::string new_steps(const nlohmann::json& plan);

    std::string plan_;       // id of the release
    std::size_t shown_ = 0;  // its steps
    std::optional<int> end_;
};

}  // namespace kubexm::cli
