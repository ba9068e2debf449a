// kubexmd: decides the state of this host. Only puts the modules together.

#include <fmt/format.h>
#include <systemd/sd-daemon.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "api/http/library.hpp"
#include "api/http/server.hpp"
#include "daemon/agent/agent.hpp"
#include "daemon/agent/executor_client.hpp"
#include "daemon/agent/facts.hpp"
#include "daemon/agent/link_watch.hpp"
#include "daemon/agent/name_lookup.hpp"
#include "daemon/agent/status_line.hpp"
#include "daemon/base/duration.hpp"
#include "daemon/base/grammar.hpp"
#include "daemon/base/log.hpp"
#include "daemon/base/memory.hpp"
#include "daemon/base/options.hpp"
#include "daemon/base/process_lock.hpp"
#include "daemon/base/random.hpp"
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
    return {.version = std::string(kVersion),
            .state = settings.state,
            .namespace_ = settings.management.namespace_,
            .pods_timeout =
                duration_in(settings.release.pods_timeout).value_or(std::chrono::minutes(2)),
            .bootstrap_kubeconfig = bootstrap_kubeconfig(settings),
            .is_bootstrap_configured = !settings.management.bootstrap_kubeconfig.empty(),
            .on_change = [&idle](const model::Snapshot& snapshot) {
                idle.touch();
                notify_status(snapshot);
            }};
}

agent::Agent::Ports ports_of(Loop& loop, agent::ExecutorPort& executor,
                             const std::string& configured_name) {
    return {.executor = executor,
            .connect =
                [&loop](kube::ClusterCredentials credentials) {
                    return kube::Api::create(loop, std::move(credentials));
                },
            .clock = [] { return std::chrono::system_clock::now(); },
            .random = system_random,
            .look_up = agent::look_up,
            .read_facts = agent::read_facts,
            .read_name = [configured_name] { return agent::read_name(configured_name); }};
}

bool same_but_log(config::Config a, const config::Config& b) {
    a.log = b.log;
    a.origins = b.origins;
    return a == b;
}

/// The sockets of kubexmd-api.socket and kubexmd.socket by their names; kubexmd works without them.
std::map<std::string, Fd> passed_sockets() {
    char** names = nullptr;
    const int count = ::sd_listen_fds_with_names(/*unset_environment=*/1, &names);
    std::map<std::string, Fd> sockets;
    for (int i = 0; i < count; ++i) {
        sockets.insert_or_assign(names[i], Fd{SD_LISTEN_FDS_START + i});
        std::free(names[i]);  // NOLINT(cppcoreguidelines-no-malloc): systemd allocated it
    }
    std::free(static_cast<void*>(names));  // NOLINT(cppcoreguidelines-no-malloc)
    return sockets;
}

void log_listening(const Result<>& state) {
    if (state) return log::info("the local API listens");
    log::warning("the local API does not listen everywhere; retrying: " + state.error().what,
                 {{"CODE", name_of(state.error().code)}});
}

http::Callbacks callbacks_of(agent::Agent& agent) {
    return {
        .source = [&agent] { return agent.snapshot(); },
        .run_command = [&agent](const model::Command& command,
                                http::OnDecision done) { agent.submit(command, std::move(done)); },
        .on_listening =
            [&agent](const Result<>& state) {
                log_listening(state);
                agent.on_local_api(state);
            }};
}

/// "127.0.0.1:10240", "[::1]:10240" or nothing, as the configuration has checked.
http::Listen listen_of(const config::LocalApi& api) {
    auto sockets = passed_sockets();
    http::Listen listen{.address = "",
                        .socket = std::move(sockets["api"]),
                        .control = std::move(sockets["control"])};
    if (const auto endpoint = endpoint_from(api.listen)) {
        listen.address = endpoint->host;
        listen.port = endpoint->port.value_or(0);
    }
    return listen;
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

/// Ready without the executor, too: it may be busy for minutes, or its journal damaged.
void on_executor(agent::Agent& agent, const Result<>& connected) {
    agent.on_executor(connected);
    notify_systemd("READY=1");
}

void stop(Loop& loop) {
    notify_systemd("STOPPING=1");
    loop.stop(0);
}

/// Until SIGTERM.
Result<int> serve_agent(Loop& loop, agent::Agent& agent, const DaemonOptions& options,
                        const config::Config& settings) {
    const auto term = TRY(loop.on_signal(SIGTERM, [&loop] { stop(loop); }));
    const auto hup = TRY(loop.on_signal(SIGHUP, [&] { reload(options, settings); }));
    const auto server = TRY(http::Server::start(listen_of(settings.api), callbacks_of(agent)));
    TRY(loop.feed_watchdog([&server, &agent] {
        agent.on_wakeup();
        return server->alive();
    }));
    return loop.run();
}

/// Without it the ByoHost's addresses are as current as the hourly reading.
void watch_links(agent::LinkWatch& links) {
    auto started = links.start();
    if (started) return;
    log::warning("changes of addresses are noticed hourly only: " + started.error().what,
                 {{"CODE", name_of(started.error().code)}});
}

Result<int> serve(const DaemonOptions& options, const config::Config& settings) {
    const StateDirectory state = TRY(StateDirectory::open(settings.state));
    const ProcessLock only_instance = TRY(ProcessLock::take(state, "kubexmd.lock"));
    Loop loop = TRY(Loop::create());
    IdleTimer idle(loop, trim_memory);
    std::unique_ptr<agent::Agent> agent;
    agent::LinkWatch links(loop, [&agent] { agent->on_links(); });
    watch_links(links);  // before the facts are read: no change may be missed
    const model::HostFacts facts = TRY(agent::read_facts(settings.host.name));
    agent::ExecutorClient executor(
        loop, settings.executor.socket, fmt::format("kubexmd {}", kVersion),
        [&agent](const Result<>& connected) { on_executor(*agent, connected); });
    agent = TRY(agent::Agent::create(loop, options_of(settings, idle), facts,
                                     ports_of(loop, executor, settings.host.name)));
    executor.start();
    agent->start();
    return serve_agent(loop, *agent, options, settings);
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
