#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "daemon/base/error.hpp"
#include "daemon/kube/kubeconfig.hpp"
#include "daemon/loop/loop.hpp"

namespace kubexm::kube {

/// An error of a request, with what the caller may want to know besides the code.
struct Failure {
    Error error;                          // names method, path and server
    int status = 0;                       // of HTTP; 0: there was no answer
    std::string reason;                   // of the Status object: "AlreadyExists", "Expired"
    std::chrono::seconds retry_after{0};  // what the server asked for
};

template <typename T>
using Answer = std::expected<T, Failure>;

/// Requests to one API server with one identity, on the loop's thread (curl multi). HTTP/1.1,
/// TLS 1.2 or newer, https only, no redirects, no proxies of the environment. Every request has a
/// deadline; answers are bounded in size, depth and number of values: beyond that they are invalid.
/// A request lives as long as its handle, also without the Api that made it.
///
/// What HTTP says becomes a Code: 400, 415, 422 invalid; 401, 403 denied; 404 not_found; 409
/// conflict; 410 (and reason Expired) exhausted; 429, 5xx and no connection unavailable; the
/// deadline timeout.
class Api {
public:
    /// Ends a request when it is dropped; its callback is not called any more.
    class Pending {
    public:
        virtual ~Pending() = default;
    };
    using Handle = std::unique_ptr<Pending>;
    using Callback = std::move_only_function<void(Answer<nlohmann::json>)>;
    using LineCallback = std::move_only_function<void(std::string_view line)>;
    using EndCallback = std::move_only_function<void(Answer<void>)>;

    /// invalid: the access has no CA, or cannot be used.
    static Result<std::unique_ptr<Api>> create(Loop& loop, ClusterCredentials access);
    virtual ~Api() = default;

    virtual const std::string& server() const = 0;

    /// The callback comes later, never from inside the call; it may drop the handle.
    [[nodiscard]] virtual Handle get(std::string path, Callback callback) = 0;
    [[nodiscard]] virtual Handle post(std::string path, const nlohmann::json& body,
                                      Callback callback) = 0;
    /// application/merge-patch+json, with fieldManager=kubexmd.
    [[nodiscard]] virtual Handle merge_patch(std::string path, const nlohmann::json& patch,
                                             Callback callback) = 0;
    [[nodiscard]] virtual Handle remove(std::string path, const nlohmann::json& options,
                                        Callback callback) = 0;
    /// One line at a time (at most 16 MiB each) until the server ends it or `limit` has passed; on
    /// a connection of its own.
    [[nodiscard]] virtual Handle stream(std::string path, std::chrono::seconds limit,
                                        LineCallback line, EndCallback end) = 0;
};

}  // namespace kubexm::kube
