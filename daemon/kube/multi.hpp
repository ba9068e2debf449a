#pragma once

#include <curl/curl.h>

#include <map>
#include <memory>
#include <vector>

#include "daemon/kube/transfer.hpp"
#include "daemon/loop/loop.hpp"

namespace kubexm::kube {

/// curl's connections and requests, driven by the loop: a source for each socket of curl, and one
/// timer. Without requests there are no wake-ups.
class Multi : public std::enable_shared_from_this<Multi> {
public:
    static Result<std::shared_ptr<Multi>> create(Loop& loop);
    Multi(const Multi&) = delete;
    Multi& operator=(const Multi&) = delete;
    ~Multi();

    /// Calls no callback from inside.
    void start(const std::shared_ptr<Transfer>& transfer);
    /// Ends a request, finished or not, without a callback.
    void cancel(Transfer& transfer);
    /// Calls deliver() of a running transfer after curl has returned.
    void schedule_delivery(Transfer& transfer);

private:
    struct Free {
        void operator()(CURLM* multi) const { ::curl_multi_cleanup(multi); }
    };
    explicit Multi(Loop& loop);

    static int on_socket(CURL*, curl_socket_t fd, int what, void* multi, void*) noexcept;
    static int on_timer(CURLM*, long milliseconds, void* multi) noexcept;

    bool update_source(curl_socket_t fd, int what);
    void drive(curl_socket_t fd, int events);
    void deliver();
    void finish_completed();

    Loop& loop_;
    std::map<curl_socket_t, Loop::Handle> sockets_;
    Loop::Handle timer_;
    std::vector<std::weak_ptr<Transfer>> deliveries_;
    std::unique_ptr<CURLM, Free> multi_;
};

}  // namespace kubexm::kube
