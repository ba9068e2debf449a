#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/executor/host/http2.hpp"

// Private to the module.

namespace kubexm::executor::grpc {

using Deadline = std::chrono::steady_clock::time_point;

/// One request and its one answer, both protobuf, over a unix socket. not_found: nobody listens at
/// the socket. unavailable: no answer, or not one of gRPC. timeout: the deadline passed. A refusal
/// of the other side has the code that says what to do about it, and its words. `metadata` goes
/// with the request.
Result<std::string> call(const std::string& socket, const std::string& method,
                         std::string_view message, Deadline deadline,
                         const std::vector<http2::Header>& metadata = {});

/// A message with the five bytes that gRPC puts in front.
std::string framed(std::string_view message);
/// The message of an answer. invalid: not exactly one, or a compressed one.
Result<std::string> unframed(std::string_view body);

}  // namespace kubexm::executor::grpc
