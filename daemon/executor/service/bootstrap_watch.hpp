#pragma once

#include <functional>
#include <optional>
#include <string>

#include "daemon/executor/host/path_watch.hpp"
#include "daemon/executor/wire/messages.hpp"
#include "daemon/loop/loop.hpp"

namespace kubexm::executor {

/// Passes root's bootstrap kubeconfig on to subscribers, by descriptor: systemd gives it to kubexmd
/// at its start only. Does nothing before the first subscriber. Loop thread.
class BootstrapWatch {
public:
    using Send = std::function<void(const wire::Reply&)>;

    /// `root` outlives the watch.
    BootstrapWatch(Loop& loop, const Root& root, std::string path, Send send);

    /// There is a subscriber more: the content is sent again.
    void on_subscriber();

private:
    Result<> start();
    void on_change();
    void send_content();

    Loop& loop_;
    const Root& root_;
    std::string path_;
    Send send_;
    std::optional<PathWatch> watch_;
    Loop::Handle source_;
    Loop::Handle timer_;
};

}  // namespace kubexm::executor
