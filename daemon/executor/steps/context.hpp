#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "daemon/executor/host/files.hpp"
#include "daemon/executor/host/systemd.hpp"
#include "daemon/executor/journal/vault.hpp"
#include "daemon/model/step.hpp"

namespace kubexm::executor {

/// What a step works with. Worker thread only.
struct Context {
    const Root& root;
    Systemd& systemd;
    Vault& vault;
    std::chrono::steady_clock::time_point deadline;
    /// The step that was last applied to the same object, if any.
    std::optional<model::Step> previous;
    /// The network links that root lets us take away.
    std::vector<std::string> links;
    /// For steps that can take long: told as often as they like, passed on when it is time.
    std::function<void(const std::string& how_far)> progress = [](const std::string&) {};
};

}  // namespace kubexm::executor
