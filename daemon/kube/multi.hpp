#pragma once

#include <curl/curl.h>

#include <map>
#include <memory>
#include <vector>

#include "daemon/kube/exchange.hpp"
#include "daemon/loop/loop.hpp"

namespace kubexm::kube {

/// curl's connections and requests, driven by the loop: a source for each socket that curl wants to
/// hear of, and one timer. Nothing wakes up while nothing is asked.
class Multi : public std::enable_shared_from_this<Multi> {
public:
    static Result<std::shared_ptr<Multi>> create(Loop& loop);
    Multi(const Multi&) = delete;
    Multi& operator=(const Multi&) = delete;
    ~Multi();

    /// Never calls back from inside.
    void begin(const std::shared_ptr<Exchange>& exchange);
    /// Ends a request, finished or not, without a word.
    void end(Exchange& exchange);
    /// The exchange, which runs, has something to deliver when curl returns.
    void note(Exchange& exchange);

private:
    struct Free {
        void operator()(CURLM* multi) const { ::curl_multi_cleanup(multi); }
    };
    explicit Multi(Loop& loop);

    static int on_socket(CURL*, curl_socket_t fd, int what, void* multi, void*) noexcept;
    static int on_timer(CURLM*, long milliseconds, void* multi) noexcept;

    bool watch(curl_socket_t fd, int what);
    void act(curl_socket_t fd, int events);
    void deliver();
    void harvest();

    Loop& loop_;
    std::map<curl_socket_t, Loop::Handle> sockets_;
    Loop::Handle timer_;
    std::vector<std::weak_ptr<Exchange>> noted_;
    std::unique_ptr<CURLM, Free> multi_;
};

}  // namespace kubexm::kube
