#pragma once

#include <curl/curl.h>

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/kube/api.hpp"
#include "daemon/kube/server_url.hpp"

// One request on curl. Private to the module.

namespace kubexm::kube {

/// Shared by all requests of an Api, so that the credentials are not copied for each.
struct ApiServer {
    ClusterCredentials credentials;
    ServerUrl url;
    std::optional<std::chrono::seconds> clock_offset;  // of the last response
};

struct ApiRequest {
    std::string method;
    std::string path;  // with its query
    std::string content_type;
    std::string body;
    std::chrono::milliseconds limit{};
    bool is_stream = false;  // a connection of its own, and no limit for the whole response
};

/// Wiped when destroyed: one of them may be the bearer token.
class Headers {
public:
    Headers() = default;
    Headers(const Headers&) = delete;
    Headers& operator=(const Headers&) = delete;
    ~Headers();

    void add(std::string&& line);
    curl_slist* list() const { return list_; }

private:
    curl_slist* list_ = nullptr;
};

/// A request and its response. curl calls on_head() and receive(); the callbacks of the caller run
/// in deliver() and finish(), after curl has returned, and may destroy any request or the Api.
class Transfer : public std::enable_shared_from_this<Transfer> {
public:
    Transfer(std::shared_ptr<ApiServer> server, ApiRequest request);
    virtual ~Transfer() = default;
    Transfer(const Transfer&) = delete;
    Transfer& operator=(const Transfer&) = delete;

    Result<> prepare();
    CURL* easy() const { return easy_.get(); }

    void note_date() const;
    /// The head of the response is complete.
    virtual void on_head() {}
    /// A piece of the body; false aborts the request.
    virtual bool receive(std::string_view bytes) = 0;
    virtual void deliver() {}
    virtual void finish(CURLcode outcome) = 0;
    /// No callbacks from here on.
    virtual void cancel() = 0;
    /// curl could not start the request.
    virtual void abort(const Error& error) = 0;

protected:
    const std::string& description() const { return description_; }
    int status() const;
    std::chrono::seconds retry_after() const;
    /// There was no complete response.
    Failure no_response(CURLcode outcome) const;

private:
    struct Free {
        void operator()(CURL* easy) const { ::curl_easy_cleanup(easy); }
    };
    struct FreeList {
        void operator()(curl_slist* list) const { ::curl_slist_free_all(list); }
    };

    void add_headers();

    std::shared_ptr<ApiServer> server_;
    ApiRequest request_;
    std::string description_;  // "GET /api/v1/nodes at https://10.0.0.1:6443"
    std::array<char, CURL_ERROR_SIZE> error_{};
    Headers headers_;
    std::unique_ptr<curl_slist, FreeList> connect_to_;
    std::unique_ptr<CURL, Free> easy_;
};

}  // namespace kubexm::kube
