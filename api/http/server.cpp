#include "api/http/server.hpp"

#include <drogon/drogon.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <future>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "api/http/connections.hpp"
#include "api/http/epoll_entry.hpp"
#include "api/http/library.hpp"
#include "api/http/listener.hpp"
#include "api/http/messages.hpp"
#include "api/http/peer.hpp"
#include "api/http/pending_operations.hpp"
#include "api/http/wakeup.hpp"
#include "api/routes/routes.hpp"
#include "daemon/base/backoff.hpp"
#include "daemon/base/log.hpp"
#include "daemon/base/try.hpp"
#include "daemon/base/work_timer.hpp"

namespace kubexm::http {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMaxBody = std::size_t{64} * 1024;
constexpr std::size_t kMaxPipelined = 8;
constexpr auto kDrain = 1s;
constexpr auto kLongestAnswer = 30s;  // usually a few milliseconds: all data is in memory
constexpr auto kLinger = 1s;
constexpr Backoff kRetries(1s, 60s);
constexpr const char* kCommand = "command";  // attribute of a request that waits for a decision

/// Blocks all signals in this thread and in the threads it starts.
class SignalsBlocked {
public:
    SignalsBlocked() {
        sigset_t all;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    SignalsBlocked(const SignalsBlocked&) = delete;
    SignalsBlocked& operator=(const SignalsBlocked&) = delete;
    ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

private:
    sigset_t before_{};
};

Result<std::vector<Listener>> make_listeners(Listen& listen) {
    std::vector<Listener> made;
    if (!listen.address.empty()) {
        Listener tcp = TRY(Listener::tcp(listen.address, listen.port));
        made.push_back(std::move(tcp));
    }
    if (listen.socket) {
        made.push_back(Listener::passed(std::move(listen.socket), api::ListenerKind::socket));
    }
    if (listen.control) {
        made.push_back(Listener::passed(std::move(listen.control), api::ListenerKind::control));
    }
    return made;
}

}  // namespace

/// Two threads: Drogon's main loop, which waits for stop() here, and its I/O thread, which answers.
class Server::Impl {
public:
    Impl(WakeupFd wakeup, std::vector<Listener> listeners, std::chrono::milliseconds idle_timeout,
         Callbacks callbacks)
        : wakeup_(std::move(wakeup)),
          listeners_(std::move(listeners)),
          callbacks_(std::move(callbacks)),
          connections_(idle_timeout, [this] { on_empty(); }),
          operations_(
              std::make_shared<PendingOperations>(callbacks_.run_command, idle_timeout / 2)) {}

    void start() {
        opened_ = open_listeners();
        callbacks_.on_listening(opened_);
        if (listeners_.empty()) return;
        const SignalsBlocked blocked;
        thread_ = std::thread([this] { run(); });
        listening_.get_future().wait();
    }

    void stop() {
        if (!thread_.joinable()) return;
        operations_->close();
        stop_.set_value();
        thread_.join();
        for (Listener& listener : listeners_) listener.close();
    }

    std::uint16_t port() const { return port_of(listeners_.front().socket()); }
    bool alive() const { return !work_.is_stuck(kLongestAnswer); }

private:
    void run() {
        silence_library();
        auto& app = drogon::app();
        // Drogon creates upload directories: here it cannot, and there are no uploads.
        app.setUploadPath("/dev/null").setClientMaxMemoryBodySize(kMaxBody);
        app.setClientMaxBodySize(kMaxBody).setPipeliningRequestsNumber(kMaxPipelined);
        app.setThreadNum(1).setIdleConnectionTimeout(0);  // see Connections
        app.enableGzip(false).enableServerHeader(false).disableSigtermHandling();
        app.enableReusePort();  // else Drogon opens a lock file in /tmp
        for (std::size_t i = 0; i < listeners_.size(); ++i) app.addListener("127.0.0.1", 0);
        register_callbacks(app);
        app.run();
    }

    void register_callbacks(drogon::HttpAppFramework& app) {
        app.setBeforeListenSockOptCallback([this](int fd) { take_over(fd); });
        app.setAfterAcceptSockOptCallback(
            [this](int fd) { connections_.on_accept(peer_of(fd, listeners_)); });
        app.setConnectionCallback([this](const auto& one) { connections_.on_change(one); });
        app.registerSyncAdvice([this](const auto& request) { return answer(request); });
        app.registerPreRoutingAdvice([this](const drogon::HttpRequestPtr& request,
                                            drogon::AdviceCallback&& send,
                                            drogon::AdviceChainCallback&&) {
            operations_->submit(request->attributes()->get<model::Command>(kCommand),
                                std::move(send));
        });
        app.registerBeginningAdvice(
            [this] { drogon::app().getLoop()->queueInLoop([this] { wait_for_stop(); }); });
    }

    /// Replaces the socket that Drogon is about to listen on by one of listeners_.
    void take_over(int fd) {
        if (::dup3(listeners_.at(accepting_.size()).socket().get(), fd, O_CLOEXEC) < 0) {
            log::error(from_errno("dup3", "socket of the API").error().what);
            std::abort();  // Drogon would listen on a random port
        }
        accepting_.push_back(fd);
        if (accepting_.size() < listeners_.size()) return;
        sleep_if_empty();
        listening_.set_value();
    }

    Result<> open_listeners() {
        if (listeners_.empty()) {
            return fail(Code::unavailable,
                        "the API has no socket: api.listen is empty, and systemd passed none; run "
                        "systemctl restart kubexmd.socket kubexmd-api.socket kubexmd");
        }
        Result<> first;
        for (Listener& listener : listeners_) {
            const auto opened = listener.open();
            if (first) first = opened;
        }
        return first;
    }

    /// Nothing: the request is a command, which Drogon passes on.
    drogon::HttpResponsePtr answer(const drogon::HttpRequestPtr& request) {
        ClientPeer peer;
        if (auto connection = request->getConnectionPtr().lock()) {
            peer = connections_.on_request(connection);
        }
        work_.begin();
        auto answer = api::answer(request_of(request, peer), *callbacks_.source());
        work_.end();
        if (auto* response = std::get_if<api::Response>(&answer)) {
            return response_of(std::move(*response));
        }
        request->attributes()->insert(kCommand, std::get<model::Command>(std::move(answer)));
        return nullptr;
    }

    void on_empty() {
        if (draining_) {
            drained_.set_value();
        } else {
            sleep_if_empty();
        }
    }

    /// Sleeps until a client connects. Queued twice: trantor first completes the close of the last
    /// connection, which it queues behind the first turn. Not before all listeners accept: this
    /// thread makes them accept, and a client that waited for the first may be gone by then.
    void sleep_if_empty() {
        auto* loop = drogon::app().getIOLoop(0);
        loop->queueInLoop([this, loop] {
            loop->queueInLoop([this] {
                const bool accepts = accepting_.size() == listeners_.size();
                if (!accepts || !connections_.empty() || draining_) return;
                wakeup_.wait(listeners_);
                sleep_again_later();
            });
        });
    }

    /// A client that is gone before it is accepted, or a listener that moves, leaves no connection
    /// whose end would call on_empty().
    void sleep_again_later() {
        if (std::exchange(sleeps_later_, true)) return;
        drogon::app().getIOLoop(0)->runAfter(kLinger, [this] {
            sleeps_later_ = false;
            sleep_if_empty();
        });
    }

    /// Meanwhile retries to open the listeners.
    void wait_for_stop() {
        auto stopped = stop_.get_future();
        Backoff retries = kRetries;
        while (!opened_ &&
               stopped.wait_for(retries.next(/*jitter=*/0)) == std::future_status::timeout) {
            opened_ = open_listeners();
            if (opened_) callbacks_.on_listening(opened_);
        }
        stopped.wait();
        wakeup_.signal();
        drogon::app().getIOLoop(0)->queueInLoop([this] { stop_accepting(); });
        drained_.get_future().wait_for(kDrain);
        drogon::app().quit();
    }

    /// Queued again: a client that is accepted already opens its connection in the next turn.
    void stop_accepting() {
        std::ranges::for_each(accepting_, ignore_in_event_loops);
        drogon::app().getIOLoop(0)->queueInLoop([this] {
            draining_ = true;
            connections_.close();
        });
    }

    WakeupFd wakeup_;
    std::vector<Listener> listeners_;
    Result<> opened_;             // before the threads start, then Drogon's main loop
    std::vector<int> accepting_;  // Drogon's descriptors of the listeners, in their order
    Callbacks callbacks_;
    WorkTimer work_;
    bool draining_ = false;      // I/O thread
    bool sleeps_later_ = false;  // I/O thread
    Connections connections_;
    std::shared_ptr<PendingOperations> operations_;
    std::promise<void> listening_;
    std::promise<void> stop_;
    std::promise<void> drained_;
    std::thread thread_;
};

Result<std::unique_ptr<Server>> Server::start(Listen listen, Callbacks callbacks) {
    static std::atomic_flag started;
    if (started.test()) {
        return fail(Code::invalid, "the API can be served only once per process");
    }
    WakeupFd wakeup = TRY(WakeupFd::create());
    std::vector<Listener> listeners = TRY(make_listeners(listen));
    started.test_and_set();
    auto impl = std::make_unique<Impl>(std::move(wakeup), std::move(listeners), listen.idle_timeout,
                                       std::move(callbacks));
    impl->start();
    return std::unique_ptr<Server>(new Server(std::move(impl)));
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Server::~Server() { stop(); }

void Server::stop() { impl_->stop(); }

std::uint16_t Server::port() const { return impl_->port(); }

bool Server::alive() const { return impl_->alive(); }

}  // namespace kubexm::http

#ifdef __SANITIZE_THREAD__
// Drogon is not built with the thread sanitizer, which does not see its atomics and reports false
// races. Our own code is still checked.
extern "C" const char* __tsan_default_suppressions();  // NOLINT(bugprone-reserved-identifier)
extern "C" const char* __tsan_default_suppressions() { return "race:trantor::\nrace:drogon::\n"; }
#endif
