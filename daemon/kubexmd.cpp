// kubexmd: decides the state of this host. Only puts the modules together.

#include <fmt/format.h>

#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>

#include "api/http/library.hpp"
#include "api/http/server.hpp"
#include "daemon/agent/agent.hpp"
#include "daemon/agent/status_line.hpp"
#include "daemon/base/log.hpp"
#include "daemon/base/memory.hpp"
#include "daemon/base/options.hpp"
#include "daemon/base/process_lock.hpp"
#include "daemon/base/state_directory.hpp"
#include "daemon/base/try.hpp"
#include "daemon/base/version.hpp"
#include "daemon/config/config.hpp"
#include "daemon/loop/idle_timer.hpp"

namespace {

using namespace kubexm;

constexpr std::string_view kUsage =
    "Usage: kubexmd [--config FILE] [--check-config]\n"
    "       kubexmd --version | --help\n"
    "\n"
    "Turns this host into a Kubernetes node and back. systemd starts it: systemctl enable --now "
    "kubexmd.\n"
    "  --config FILE   configuration (default /etc/kubexm/kubexmd.yaml); FILE.d/*.yaml override "
    "it\n"
    "  --check-config  print the effective configuration, or its error\n";

Result<config::Config> load_config(const DaemonOptions& options) {
    return config::load(options.config, options.config + ".d");
}

/// Sends the status line to systemd where it has changed.
void notify_status(const model::Snapshot& snapshot) {
    static std::string last;
    std::string line = agent::status_line(snapshot);
    if (line == last) return;
    notify_systemd(("STATUS=" + line).c_str());
    last = std::move(line);
}

/// By default a credential of systemd: in memory, for this process only.
std::string bootstrap_kubeconfig(const config::Config& settings) {
    if (!settings.management.bootstrap_kubeconfig.empty()) {
        return settings.management.bootstrap_kubeconfig;
    }
    // NOLINTNEXTLINE(concurrency-mt-unsafe): the environment is never changed
    const char* const credentials = std::getenv("CREDENTIALS_DIRECTORY");
    return credentials == nullptr ? "" : fmt::format("{}/bootstrap-kubeconfig", credentials);
}

agent::Agent::Options options_of(const config::Config& settings, IdleTimer& idle) {
    return {.program = fmt::format("kubexmd {}", kVersion),
            .version = std::string(kVersion),
            .executor_socket = settings.executor.socket,
            .state = settings.state,
            .host_name = settings.host.name,
            .namespace_ = settings.management.namespace_,
            .bootstrap_kubeconfig = bootstrap_kubeconfig(settings),
            // Ready without the executor, too: it may be busy for minutes, or its journal damaged.
            .on_ready = [] { notify_systemd("READY=1"); },
            .on_change =
                [&idle](const model::Snapshot& snapshot) {
                    idle.touch();
                    notify_status(snapshot);
                }};
}

bool same_but_log(config::Config a, const config::Config& b) {
    a.log = b.log;
    a.origins = b.origins;
    return a == b;
}

/// "127.0.0.1:10240" or "[::1]:10240", as the configuration has checked.
http::Listen listen_of(const config::LocalApi& api) {
    const std::size_t colon = api.listen.rfind(':');
    const std::string address = api.listen.substr(0, colon);
    const unsigned long port = std::stoul(api.listen.substr(colon + 1));
    return {.address = address == "[::1]" ? "::1" : address,
            .port = static_cast<std::uint16_t>(port),
            .socket = api.socket};
}

void reload(const DaemonOptions& options, const config::Config& running) {
    notify_systemd("RELOADING=1");
    auto settings = load_config(options);
    if (!settings) {
        log::error("reload failed, keeping the old configuration: " + settings.error().what);
    } else {
        log::set_level(settings->log.level);
        log::notice(same_but_log(*settings, running)
                        ? "configuration reloaded"
                        : "configuration reloaded; changes other than log.level need a restart");
    }
    notify_systemd("READY=1");
}

Result<int> serve(const DaemonOptions& options, const config::Config& settings) {
    const StateDirectory state = TRY(StateDirectory::open(settings.state));
    const ProcessLock only_instance = TRY(ProcessLock::take(state, "kubexmd.lock"));
    Loop loop = TRY(Loop::create());
    IdleTimer idle(loop, trim_memory);
    const auto agent = TRY(agent::Agent::create(loop, options_of(settings, idle)));
    const auto stop = TRY(loop.on_signal(SIGTERM, [&loop] {
        notify_systemd("STOPPING=1");
        loop.stop(0);
    }));
    const auto hup = TRY(loop.on_signal(SIGHUP, [&] { reload(options, settings); }));
    const auto server =
        TRY(http::Server::start(listen_of(settings.api), [&agent] { return agent->snapshot(); }));
    TRY(loop.feed_watchdog([&server] { return server->alive(); }));
    agent->start();
    return loop.run();
}

Result<int> run(const DaemonOptions& options) {
    const config::Config settings = TRY(load_config(options));
    if (options.check_config) {
        fmt::print("{}", config::effective(settings));
        return 0;
    }
    log::set_level(settings.log.level);
    return serve(options, settings);
}

}  // namespace

int main(int argc, char** argv) {
    const DaemonText text{"kubexmd", kUsage,
                          fmt::format("kubexmd {} ({})\n", kVersion, http::library()),
                          "/etc/kubexm/kubexmd.yaml"};
    return daemon_main(argc, argv, text, run);
}
