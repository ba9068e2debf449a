#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/deadline.hpp"
#include "daemon/base/error.hpp"
#include "daemon/executor/host/http2.hpp"

// Private to the module.

namespace kubexm::executor::grpc {

/// A unary call over a unix socket: one protobuf message in each direction. not_found: no server at
/// the socket. unavailable: no valid answer. timeout: the deadline passed. An error of the server
/// has the code that fits its gRPC status, and its message.
Result<std::string> call(const std::string& socket, const std::string& method,
                         const std::string& message, Deadline deadline,
                         const std::vector<http2::HeaderField>& metadata = {});

/// Several such calls at once, over one connection: a reply for each.
std::vector<Result<std::string>> call_all(const std::string& socket, const std::string& method,
                                          std::span<const std::string> messages, Deadline deadline,
                                          const std::vector<http2::HeaderField>& metadata = {});

/// A message with the five bytes of gRPC's prefix.
std::string framed(std::string_view message);
/// The message of a body. invalid: not exactly one, or compressed.
Result<std::string> unframed(std::string_view body);

}  // namespace kubexm::executor::grpc
