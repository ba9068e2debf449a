#pragma once

#include <functional>
#include <vector>

#include "daemon/base/fd.hpp"
#include "daemon/executor/wire/messages.hpp"

namespace kubexm::agent {

/// Requests to the executor. A refusal or a lost connection ends a request with an error. Loop
/// thread.
class ExecutorPort {
public:
    /// Gets every reply; after an error there are no more.
    using Handler = std::move_only_function<void(const Result<wire::Reply>&)>;

    virtual ~ExecutorPort() = default;
    virtual void ask(wire::Request request, std::vector<Fd> contents, Handler handler) = 0;
};

}  // namespace kubexm::agent
