#include "daemon/kube/multi.hpp"

#include <sys/epoll.h>

#include <csignal>
#include <utility>

namespace kubexm::kube {

namespace {

constexpr long kMaxIdleConnections = 4;

std::uint32_t epoll_events(int what) {
    std::uint32_t events = 0;
    if (what == CURL_POLL_IN || what == CURL_POLL_INOUT) events |= EPOLLIN;
    if (what == CURL_POLL_OUT || what == CURL_POLL_INOUT) events |= EPOLLOUT;
    return events;
}

int curl_events(std::uint32_t events) {
    int mask = 0;
    if ((events & (EPOLLIN | EPOLLHUP)) != 0) mask |= CURL_CSELECT_IN;
    if ((events & EPOLLOUT) != 0) mask |= CURL_CSELECT_OUT;
    if ((events & EPOLLERR) != 0) mask |= CURL_CSELECT_ERR;
    return mask;
}

/// Once per process.
CURLcode start_curl() {
    // OpenSSL writes to sockets without MSG_NOSIGNAL, so a closed connection raises SIGPIPE.
    std::signal(SIGPIPE, SIG_IGN);
    return ::curl_global_init(CURL_GLOBAL_DEFAULT);
}

}  // namespace

Multi::Multi(Loop& loop) : loop_(loop), multi_(::curl_multi_init()) {}

Multi::~Multi() {
    // Closing the connections must not make new sources and timers.
    ::curl_multi_setopt(multi_.get(), CURLMOPT_SOCKETFUNCTION, nullptr);
    ::curl_multi_setopt(multi_.get(), CURLMOPT_TIMERFUNCTION, nullptr);
    sockets_.clear();
}

Result<std::shared_ptr<Multi>> Multi::create(Loop& loop) {
    static const CURLcode ready = start_curl();
    std::shared_ptr<Multi> made(new Multi(loop));
    CURLM* multi = made->multi_.get();
    if (ready != CURLE_OK || multi == nullptr ||
        ::curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_socket) != CURLM_OK ||
        ::curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, made.get()) != CURLM_OK ||
        ::curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_timer) != CURLM_OK ||
        ::curl_multi_setopt(multi, CURLMOPT_TIMERDATA, made.get()) != CURLM_OK ||
        ::curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, kMaxIdleConnections) != CURLM_OK) {
        return fail(Code::internal, "libcurl: initialization failed");
    }
    return made;
}

void Multi::start(const std::shared_ptr<Transfer>& transfer) {
    Result<> prepared = transfer->prepare();
    if (prepared) {
        const CURLMcode added = ::curl_multi_add_handle(multi_.get(), transfer->easy());
        if (added == CURLM_OK) return;
        prepared = fail(Code::internal, ::curl_multi_strerror(added));
    }
    loop_.post([weak = transfer->weak_from_this(), error = prepared.error()] {
        if (const auto kept = weak.lock()) kept->abort(error);
    });
}

void Multi::cancel(Transfer& transfer) {
    transfer.cancel();
    ::curl_multi_remove_handle(multi_.get(), transfer.easy());
}

void Multi::schedule_delivery(Transfer& transfer) {
    deliveries_.push_back(transfer.weak_from_this());
}

int Multi::on_socket(CURL*, curl_socket_t fd, int what, void* multi, void*) noexcept {
    return static_cast<Multi*>(multi)->update_source(fd, what) ? 0 : -1;
}

bool Multi::update_source(curl_socket_t fd, int what) {
    sockets_.erase(fd);  // first: the loop allows one source per descriptor
    if (what == CURL_POLL_REMOVE) return true;
    auto source = loop_.on_io(fd, epoll_events(what),
                              [this, fd](std::uint32_t events) { drive(fd, curl_events(events)); });
    if (!source) return false;
    sockets_.emplace(fd, std::move(*source));
    return true;
}

int Multi::on_timer(CURLM*, long milliseconds, void* multi) noexcept {
    auto& self = *static_cast<Multi*>(multi);
    self.timer_.reset();
    if (milliseconds < 0) return 0;
    auto timer = self.loop_.after(std::chrono::milliseconds(milliseconds),
                                  [&self] { self.drive(CURL_SOCKET_TIMEOUT, 0); });
    if (!timer) return -1;
    self.timer_ = std::move(*timer);
    return 0;
}

void Multi::drive(curl_socket_t fd, int events) {
    const auto kept = shared_from_this();  // callbacks below may destroy all requests and the Api
    int running = 0;
    ::curl_multi_socket_action(multi_.get(), fd, events, &running);
    deliver();
    finish_completed();
}

void Multi::deliver() {
    for (const auto& weak : std::exchange(deliveries_, {})) {
        if (const auto transfer = weak.lock()) transfer->deliver();
    }
}

void Multi::finish_completed() {
    std::vector<std::pair<std::weak_ptr<Transfer>, CURLcode>> finished;
    int left = 0;
    while (const CURLMsg* message = ::curl_multi_info_read(multi_.get(), &left)) {
        Transfer* transfer = nullptr;
        ::curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
        finished.emplace_back(transfer->weak_from_this(), message->data.result);
    }
    for (const auto& [weak, outcome] : finished) {
        if (const auto transfer = weak.lock()) {
            ::curl_multi_remove_handle(multi_.get(), transfer->easy());
            transfer->finish(outcome);
        }
    }
}

}  // namespace kubexm::kube
