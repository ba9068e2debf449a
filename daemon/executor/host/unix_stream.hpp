#pragma once

#include <chrono>
#include <string>

#include "daemon/base/error.hpp"
#include "daemon/base/fd.hpp"

// Private to the module.

namespace kubexm::executor {

using StreamDeadline = std::chrono::steady_clock::time_point;

/// A connection to a unix socket. not_found: no process listens. timeout: the server's queue of
/// connections was full until the deadline.
Result<Fd> connect_stream(const std::string& path, StreamDeadline deadline);

/// Waits for one of `events` of poll(2), or the end of the connection. timeout: the deadline
/// passed, even if an event is ready: a peer that sends all the time cannot extend it.
Result<> wait_for(const Fd& stream, short events, StreamDeadline deadline);

}  // namespace kubexm::executor
