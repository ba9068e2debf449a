#include "daemon/executor/service/bootstrap_watch.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>

#include "daemon/base/io.hpp"
#include "daemon/base/log.hpp"
#include "daemon/base/secret.hpp"
#include "daemon/base/try.hpp"

namespace kubexm::executor {

namespace {

using namespace std::chrono_literals;

// An editor writes, renames and sets a mode.
constexpr std::chrono::milliseconds kSettle = 300ms;
constexpr std::size_t kMaxKubeconfig = std::size_t{1} << 20U;

/// Null: there is no such file.
Result<std::shared_ptr<const Fd>> content_of_file(const Root& root, const std::string& path) {
    auto file = open_file(root, path);
    if (!file && file.error().code == Code::not_found) return nullptr;
    if (!file) return std::unexpected(file.error());
    const Secret text(TRY(read_rest(file->get(), path, kMaxKubeconfig)));
    Fd content = TRY(memory_file(text.reveal()));
    return std::make_shared<const Fd>(std::move(content));
}

}  // namespace

BootstrapWatch::BootstrapWatch(Loop& loop, const Root& root, std::string path, Send send)
    : loop_(loop), root_(root), path_(std::move(path)), send_(std::move(send)) {}

void BootstrapWatch::on_subscriber() {
    auto started = watch_ ? Result<>() : start();
    if (!started) {
        log::error(fmt::format("a new {} is not noticed: {}", path_, started.error().what),
                   {{"CODE", name_of(started.error().code)}});
    }
    send_content();
}

Result<> BootstrapWatch::start() {
    watch_ = TRY(PathWatch::create(root_));
    TRY(watch_->watch({path_}));
    source_ = TRY(loop_.on_io(watch_->fd(), EPOLLIN, [this](std::uint32_t) { on_change(); }));
    return {};
}

void BootstrapWatch::on_change() {
    if (!watch_) return;
    auto changed = watch_->changed();
    if (!changed) source_.reset();  // readable for ever
    if (timer_ || (changed && !*changed)) return;
    auto timer = loop_.after(kSettle, [this] {
        timer_.reset();
        if (watch_) std::ignore = watch_->watch({path_});  // its directory may be a new one
        send_content();
    });
    if (timer) timer_ = *std::move(timer);
}

void BootstrapWatch::send_content() {
    auto content = content_of_file(root_, path_);
    if (!content) return send_(wire::BootstrapKubeconfig{content.error().what, nullptr});
    send_(wire::BootstrapKubeconfig{"", *std::move(content)});
}

}  // namespace kubexm::executor
