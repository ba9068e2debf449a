// kubexmd: decides what shall be on this host. Puts the rooms together and nothing else.

#include <fmt/format.h>

#include <csignal>
#include <string>
#include <string_view>

#include "api/http/library.hpp"
#include "daemon/agent/hands_link.hpp"
#include "daemon/agent/instance.hpp"
#include "daemon/base/log.hpp"
#include "daemon/base/options.hpp"
#include "daemon/base/version.hpp"
#include "daemon/config/config.hpp"

namespace {

using namespace kubexm;

constexpr std::string_view kUsage =
    "Usage: kubexmd [--config FILE] [--check-config]\n"
    "       kubexmd --version | --help\n"
    "\n"
    "Turns this host into a Kubernetes node and back. Started by systemd: systemctl enable --now "
    "kubexmd.\n"
    "  --config FILE   configuration (default /etc/kubexm/kubexmd.yaml); FILE.d/*.yaml come after "
    "it\n"
    "  --check-config  print the configuration that would be in effect, or what is wrong with it\n";

Result<config::Config> load_config(const DaemonOptions& options) {
    return config::load(options.config, options.config + ".d");
}

/// What is said to systemd and to the log about the hands, as it changes.
class HandsWatch {
public:
    HandsWatch(Loop& loop, const config::Config& settings)
        : link_(loop, settings.hands.socket, fmt::format("kubexmd {}", kVersion),
                {[this](const Result<>& answer) { on_change(answer); }, [](const wire::Reply&) {}}
                // nothing is asked yet
          ) {}
    void start() { link_.start(); }

private:
    /// Ready in any case: the hands may be busy with a step for minutes, or need a person.
    void on_change(const Result<>& answer) {
        const std::string now = answer ? "" : answer.error().what;
        if (!answer && now != trouble_) log::warning("the hands do not answer: " + now);
        if (answer && !trouble_.empty()) log::notice("the hands answer again");
        trouble_ = now;
        say(answer ? "The hands answer." : "The hands do not answer: " + now);
    }

    static void say(const std::string& status) {
        notify_systemd(fmt::format("READY=1\nSTATUS={}", status).c_str());
    }

    agent::HandsLink link_;
    std::string trouble_;
};

void reload(const DaemonOptions& options, const config::Config& running) {
    notify_systemd("RELOADING=1");
    auto settings = load_config(options);
    if (!settings) {
        log::error("configuration not taken, the old one stays: " + settings.error().what);
    } else {
        log::set_level(settings->log.level);
        const bool restart = settings->hands != running.hands || settings->state != running.state;
        log::notice(restart ? "configuration read again; hands.socket and state need a restart"
                            : "configuration read again");
    }
    notify_systemd("READY=1");
}

Result<int> serve(const DaemonOptions& options, const config::Config& settings) {
    auto only = agent::become_only_instance(settings.state);
    if (!only) return std::unexpected(only.error());
    auto loop = Loop::create();
    if (!loop) return std::unexpected(loop.error());
    HandsWatch hands(*loop, settings);
    auto stop = loop->on_signal(SIGTERM, [&loop] {
        notify_systemd("STOPPING=1");
        loop->stop(0);
    });
    if (!stop) return std::unexpected(stop.error());
    auto hup = loop->on_signal(SIGHUP, [&] { reload(options, settings); });
    if (!hup) return std::unexpected(hup.error());
    if (auto fed = loop->feed_watchdog([] { return true; }); !fed) {
        return std::unexpected(fed.error());
    }
    hands.start();
    return loop->run();
}

Result<int> run(const DaemonOptions& options) {
    auto settings = load_config(options);
    if (!settings) return std::unexpected(settings.error());
    if (options.check_config) {
        fmt::print("{}", config::effective(*settings));
        return 0;
    }
    log::set_level(settings->log.level);
    return serve(options, *settings);
}

}  // namespace

int main(int argc, char** argv) {
    const DaemonText text{"kubexmd", kUsage,
                          fmt::format("kubexmd {} ({})\n", kVersion, http::library()),
                          "/etc/kubexm/kubexmd.yaml"};
    return daemon_main(argc, argv, text, run);
}
