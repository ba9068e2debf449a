#include "api/http/server.hpp"

#include <drogon/drogon.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <future>
#include <string_view>
#include <thread>
#include <utility>

#include "api/http/connections.hpp"
#include "api/http/listeners.hpp"
#include "api/http/wakeup.hpp"
#include "api/routes/routes.hpp"
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

api::Request request_of(const drogon::HttpRequestPtr& from) {
    return {.method = from->methodString(),
            .path = from->path(),
            .host = from->getHeader("host"),
            .if_none_match = from->getHeader("if-none-match"),
            .over_tcp = from->localAddr().family() != AF_UNIX};
}

drogon::HttpResponsePtr response_of(api::Response from) {
    auto to = drogon::HttpResponse::newHttpResponse();
    to->setStatusCode(static_cast<drogon::HttpStatusCode>(from.status));
    to->setContentTypeString(from.content_type);
    for (auto& [name, value] : from.headers) {
        to->addHeader(std::string(name), std::move(value));
    }
    if (from.status == drogon::k304NotModified) {
        to->setPassThrough(true);  // else Drogon adds Content-Length: 0
    } else {
        to->setBody(std::move(from.body));
    }
    return to;
}

/// Only fatal messages: clients must not be able to fill the log. Drogon's own levels always
/// include errors.
void silence_library() {
    trantor::Logger::setLogLevel(trantor::Logger::kFatal);
    trantor::Logger::setOutputFunction(
        [](const char* text, std::uint64_t size) {
            const std::string_view line(text, size);
            if (line.find(" FATAL ") != std::string_view::npos) log::error(line);
        },
        [] {});
}

}  // namespace

/// Two threads: Drogon's main loop, which waits for stop() here, and its I/O thread, which answers.
class Server::Impl {
public:
    Impl(WakeupFd wakeup, std::array<Fd, 2> listeners, const Listen& listen, Source source)
        : wakeup_(std::move(wakeup)),
          listeners_(std::move(listeners)),
          port_(port_of(listeners_.front())),
          socket_(listen.socket),
          source_(std::move(source)),
          connections_(listen.idle_timeout, [this] { on_empty(); }) {}

    void start() {
        const SignalsBlocked blocked;
        thread_ = std::thread([this] { run(); });
        listening_.get_future().wait();
    }

    void stop() {
        if (!thread_.joinable()) return;
        stop_.set_value();
        thread_.join();
        ::unlink(socket_.c_str());
        listeners_ = {};
    }

    std::uint16_t port() const { return port_; }
    bool alive() const { return work_.alive(kLongestAnswer); }

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
        app.setBeforeListenSockOptCallback([this](int fd) { take_over(fd); });
        app.setConnectionCallback([this](const auto& one) { connections_.on_change(one); });
        app.registerSyncAdvice([this](const auto& request) { return answer(request); });
        app.registerBeginningAdvice(
            [this] { drogon::app().getLoop()->queueInLoop([this] { wait_for_stop(); }); });
        app.run();
    }

    /// Replaces the socket that Drogon is about to listen on by one of listeners_.
    void take_over(int fd) {
        if (::dup3(listeners_.at(taken_over_).get(), fd, O_CLOEXEC) < 0) {
            log::error(from_errno("dup3", "socket of the API").error().what);
            std::abort();  // Drogon would listen on a random port
        }
        if (++taken_over_ < listeners_.size()) return;
        sleep_if_empty();
        listening_.set_value();
    }

    drogon::HttpResponsePtr answer(const drogon::HttpRequestPtr& request) {
        if (auto connection = request->getConnectionPtr().lock()) {
            connections_.on_request(connection);
        }
        work_.beat();
        auto response = response_of(api::answer(request_of(request), *source_()));
        work_.rest();
        return response;
    }

    void on_empty() {
        if (draining_) {
            drained_.set_value();
        } else {
            sleep_if_empty();
        }
    }

    /// Sleeps until a client connects. Queued twice: trantor first completes the close of the last
    /// connection, which it queues behind the first turn.
    void sleep_if_empty() {
        auto* loop = drogon::app().getIOLoop(0);
        loop->queueInLoop([this, loop] {
            loop->queueInLoop([this] {
                if (connections_.empty() && !draining_) wakeup_.wait(listeners_);
            });
        });
    }

    void wait_for_stop() {
        stop_.get_future().wait();
        wakeup_.signal();
        drogon::app().getIOLoop(0)->queueInLoop([this] {
            draining_ = true;
            connections_.close();
        });
        drained_.get_future().wait_for(kDrain);
        drogon::app().quit();
    }

    WakeupFd wakeup_;
    std::array<Fd, 2> listeners_;
    std::size_t taken_over_ = 0;
    std::uint16_t port_;
    std::string socket_;
    Source source_;
    WorkTimer work_;
    bool draining_ = false;  // I/O thread
    Connections connections_;
    std::promise<void> listening_;
    std::promise<void> stop_;
    std::promise<void> drained_;
    std::thread thread_;
};

Result<std::unique_ptr<Server>> Server::start(const Listen& listen, Source source) {
    static std::atomic_flag started;
    if (started.test()) {
        return fail(Code::invalid, "the API can be served only once per process");
    }
    WakeupFd wakeup = TRY(WakeupFd::create());
    Fd tcp = TRY(listen_tcp(listen.address, listen.port));
    Fd local = TRY(listen_unix(listen.socket));
    started.test_and_set();
    auto impl = std::make_unique<Impl>(
        std::move(wakeup), std::array{std::move(tcp), std::move(local)}, listen, std::move(source));
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
