// kubexmd: decides what shall be on this host. Puts the modules together and nothing else.

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
    "Turns this host into a Kubernetes node and back. Started by systemd: systemctl enable --now "
    "kubexmd.\n"
    "  --config FILE   configuration (default /etc/kubexm/kubexmd.yaml); FILE.d/*.yaml come after "
    "it\n"
    "  --check-config  print the configuration that would be in effect, or what is wrong with it\n";

Result<config::Config> load_config(const DaemonOptions& options) {
    return config::load(options.config, options.config + ".d");
}

/// Tells systemd what the Snapshot says, where it is something else than before.
void say(const model::Snapshot& snapshot) {
    static std::string said;
    std::string line = agent::status_line(snapshot);
    if (line == said) return;
    notify_systemd(("STATUS=" + line).c_str());
    said = std::move(line);
}

/// systemd keeps it in memory, for this process alone.
std::string bootstrap_kubeconfig(const config::Config& settings) {
    if (!settings.management.bootstrap_kubeconfig.empty()) {
        return settings.management.bootstrap_kubeconfig;
    }
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody changes the environment
    const char* const credentials = std::getenv("CREDENTIALS_DIRECTORY");
    return credentials == nullptr ? "" : fmt::format("{}/bootstrap-kubeconfig", credentials);
}

agent::Agent::Options options_of(const config::Config& settings, IdleTimer& rest) {
    return {
        .program = fmt::format("kubexmd {}", kVersion),
        .version = std::string(kVersion),
        .executor_socket = settings.executor.socket,
        .state = settings.state,
        .host_name = settings.host.name,
        .namespace_ = settings.management.namespace_,
        .bootstrap_kubeconfig = bootstrap_kubeconfig(settings),
        // Ready in any case: the executor may be busy with a step for minutes, or need a person.
        .on_ready = [] { notify_systemd("READY=1"); },
        .on_change =
            [&rest](const model::Snapshot& snapshot) {
                rest.touch();
                say(snapshot);
            }};
}

bool same_but_log(config::Config a, const config::Config& b) {
    a.log = b.log;
    a.origins = b.origins;
    return a == b;
}

/// "127.0.0.1:10240" or "[::1]:10240": the configuration sees to it.
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
        log::error("configuration not taken, the old one stays: " + settings.error().what);
    } else {
        log::set_level(settings->log.level);
        log::notice(same_but_log(*settings, running)
                        ? "configuration read again"
                        : "configuration read again; all but log.level needs a restart");
    }
    notify_systemd("READY=1");
}

Result<int> serve(const DaemonOptions& options, const config::Config& settings) {
    const StateDirectory state = TRY(StateDirectory::open(settings.state));
    const ProcessLock only_instance = TRY(ProcessLock::take(state, "kubexmd.lock"));
    auto loop = Loop::create();
    if (!loop) return std::unexpected(loop.error());
    IdleTimer rest(*loop, trim_memory);
    auto agent = agent::Agent::create(*loop, options_of(settings, rest));
    if (!agent) return std::unexpected(agent.error());
    auto stop = loop->on_signal(SIGTERM, [&loop] {
        notify_systemd("STOPPING=1");
        loop->stop(0);
    });
    if (!stop) return std::unexpected(stop.error());
    auto hup = loop->on_signal(SIGHUP, [&] { reload(options, settings); });
    if (!hup) return std::unexpected(hup.error());
    auto server =
        http::Server::start(listen_of(settings.api), [&agent] { return (*agent)->snapshot(); });
    if (!server) return std::unexpected(server.error());
    if (auto fed = loop->feed_watchdog([&server] { return (*server)->alive(); }); !fed) {
        return std::unexpected(fed.error());
    }
    (*agent)->start();
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
