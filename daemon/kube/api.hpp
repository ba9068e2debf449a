#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/base/error.hpp"
#include "daemon/kube/kubeconfig.hpp"
#include "daemon/loop/loop.hpp"

namespace kubexm::kube {

struct HttpStatus {
    enum : int {
        ok = 200,
        bad_request = 400,
        unauthorized = 401,
        forbidden = 403,
        not_found = 404,
        conflict = 409,
        gone = 410,
        too_many_requests = 429,
        internal_error = 500,
        gateway_timeout = 504,
    };
};

/// The error of a request.
struct Failure {
    Error error;                          // names method, path and server
    int status = 0;                       // HttpStatus; 0: no response
    std::string reason;                   // of the Status object: "AlreadyExists", "Expired"
    std::chrono::seconds retry_after{0};  // as the server demands
    bool untrusted = false;               // the server's certificate is not of the expected CA
};

template <typename T>
using Answer = std::expected<T, Failure>;

/// Requests to one API server with one set of credentials, on the loop's thread (curl multi).
/// HTTP/1.1, TLS 1.2 or newer, https only, no redirects, no proxies of the environment. Every
/// request has a deadline; a response beyond the limits of size, depth or number of values is
/// invalid. A request lives as long as its handle, also without the Api that made it.
///
/// Codes of a Failure: 400, 415, 422 invalid; 401, 403 denied; 404 not_found; 409 conflict; 410
/// (and reason Expired) exhausted; 429, 5xx and no connection unavailable; a missed deadline
/// timeout.
class Api {
public:
    /// Cancels the request when it is destroyed; no callback afterwards.
    class Pending {
    public:
        virtual ~Pending() = default;
    };
    using Handle = std::unique_ptr<Pending>;
    using Callback = std::move_only_function<void(Answer<nlohmann::json>)>;
    using LineCallback = std::move_only_function<void(std::string_view line)>;
    using EndCallback = std::move_only_function<void(Answer<void>)>;

    /// invalid: the credentials are incomplete or malformed.
    static Result<std::unique_ptr<Api>> create(Loop& loop, ClusterCredentials credentials);
    virtual ~Api() = default;

    virtual const std::string& server() const = 0;

    /// The server's clock (the Date of its last response) minus this host's. None: no response yet,
    /// or without a Date.
    virtual std::optional<std::chrono::seconds> clock_offset() const = 0;

    /// Requests that begin from now on have this certificate, in connections of their own; those
    /// that are under way, such as a watch, go on with the one before.
    virtual void use_certificate(std::string certificate, Secret key) = 0;

    /// The callback never comes from inside the call; it may destroy the handle.
    [[nodiscard]] virtual Handle get(std::string path, Callback callback) = 0;
    [[nodiscard]] virtual Handle post(std::string path, const nlohmann::json& body,
                                      Callback callback) = 0;
    /// application/merge-patch+json, with fieldManager=kubexmd.
    [[nodiscard]] virtual Handle merge_patch(std::string path, const nlohmann::json& patch,
                                             Callback callback) = 0;
    [[nodiscard]] virtual Handle remove(std::string path, const nlohmann::json& options,
                                        Callback callback) = 0;
    /// One line at a time (at most 16 MiB each) until the server ends the response or `limit`
    /// has passed. Its connection is not used again.
    [[nodiscard]] virtual Handle stream(std::string path, std::chrono::seconds limit,
                                        LineCallback line, EndCallback end) = 0;
};

}  // namespace kubexm::kube
