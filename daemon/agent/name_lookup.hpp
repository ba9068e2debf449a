#pragma once

#include <functional>
#include <string>

#include "daemon/loop/loop.hpp"

namespace kubexm::agent {

/// Asks for the addresses of a name and calls `done` when there is an answer, also a negative one.
/// Without the handle there is no call.
using NameLookup =
    std::function<Result<Loop::Handle>(Loop& loop, std::string name, std::function<void()> done)>;

/// Asks the system, as kubelet does before it registers: it waits as long as the system does.
Result<Loop::Handle> look_up(Loop& loop, std::string name, std::function<void()> done);

}  // namespace kubexm::agent
