#pragma once

#include <curl/curl.h>

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "daemon/kube/api.hpp"
#include "daemon/kube/server_url.hpp"

// One request on curl. Private to the module.

namespace kubexm::kube {

/// What all requests of an Api share. The blobs are not copied for each of them.
struct Endpoint {
    ClusterCredentials access;
    ServerUrl url;
};

struct Request {
    std::string method;
    std::string path;  // with its query
    std::string content_type;
    std::string body;
    std::chrono::milliseconds limit{};
    bool is_stream = false;  // a connection of its own, and no limit to the whole answer
};

/// Headers, wiped when they go: one of them may be the bearer token.
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

/// A request from its options to its answer. curl calls take() and on_head() from inside; what the
/// caller gets to see happens in deliver() and finish(), when curl has returned: there the caller
/// may drop anything.
class Exchange : public std::enable_shared_from_this<Exchange> {
public:
    Exchange(std::shared_ptr<const Endpoint> identity, Request request);
    virtual ~Exchange() = default;
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;

    Result<> prepare();
    CURL* easy() const { return easy_.get(); }

    /// The answer's head is complete.
    virtual void on_head() {}
    /// A piece of the body; false ends the request.
    virtual bool take(std::string_view bytes) = 0;
    virtual void deliver() {}
    virtual void finish(CURLcode outcome) = 0;
    /// Nothing is told any more.
    virtual void silence() = 0;
    /// Where curl could not even begin.
    virtual void refuse(const Error& error) = 0;

protected:
    const std::string& what() const { return what_; }
    int status() const;
    std::chrono::seconds retry_after() const;
    /// Where there was no complete answer.
    Failure no_answer(CURLcode outcome) const;

private:
    struct Free {
        void operator()(CURL* easy) const { ::curl_easy_cleanup(easy); }
    };
    struct FreeList {
        void operator()(curl_slist* list) const { ::curl_slist_free_all(list); }
    };

    void add_headers();

    std::shared_ptr<const Endpoint> identity_;
    Request request_;
    std::string what_;  // "GET /api/v1/nodes at https://10.0.0.1:6443"
    std::array<char, CURL_ERROR_SIZE> error_{};
    Headers headers_;
    std::unique_ptr<curl_slist, FreeList> connect_to_;
    std::unique_ptr<CURL, Free> easy_;
};

}  // namespace kubexm::kube
