#pragma once

#include <chrono>
#include <string>

#include "daemon/base/error.hpp"
#include "daemon/base/fd.hpp"

// Private to the module.

namespace kubexm::executor {

using StreamDeadline = std::chrono::steady_clock::time_point;

/// A connection to a unix socket. not_found: nobody listens there. timeout: it takes no more
/// connections until the deadline.
Result<Fd> connect_stream(const std::string& path, StreamDeadline deadline);

/// Until one of `events` of poll(2), or the end of the connection. timeout: the deadline passed,
/// also if the events are there: who is never quiet gets no longer than who is.
Result<> wait_for(const Fd& stream, short events, StreamDeadline deadline);

}  // namespace kubexm::executor
