// kubexm-executor: carries out plans as root. The composition root of its modules.

#include <fmt/format.h>
#include <pwd.h>
#include <systemd/sd-daemon.h>

#include <csignal>
#include <string>
#include <string_view>

#include "daemon/base/log.hpp"
#include "daemon/base/options.hpp"
#include "daemon/base/try.hpp"
#include "daemon/base/version.hpp"
#include "daemon/config/executor_config.hpp"
#include "daemon/executor/service/service.hpp"

namespace {

using namespace kubexm;

constexpr std::string_view kUsage =
    "Usage: kubexm-executor [--config FILE] [--check-config]\n"
    "       kubexm-executor --version | --help\n"
    "\n"
    "Carries out journaled plans on this host. Started by systemd through kubexm-executor.socket.\n"
    "  --config FILE   configuration with the allow-lists (default /etc/kubexm/executor.yaml)\n"
    "  --check-config  print the effective configuration, or its first error, and exit\n";

Result<uid_t> uid_of(const std::string& user) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): before any thread is started
    const passwd* entry = ::getpwnam(user.c_str());
    if (entry == nullptr) {
        return fail(Code::not_found,
                    fmt::format("user {} (agent_user in executor.yaml) does not exist; "
                                "run systemd-sysusers",
                                user));
    }
    return entry->pw_uid;
}

Result<Fd> passed_socket() {
    if (::sd_listen_fds(1) == 1) return Fd{SD_LISTEN_FDS_START};
    return fail(Code::unavailable, "no socket was passed; start kubexm-executor.socket");
}

/// Before any thread starts: the loop receives these signals.
void block_signals() {
    sigset_t signals;
    ::sigemptyset(&signals);
    for (int number : {SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&signals, number);
    ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

/// Without a usable journal the executor changes nothing, but answers requests with the reason.
void on_health(Loop& loop, const Result<>& health) {
    if (health) return notify_systemd("STATUS=Ready for plans.");
    const std::string& what = health.error().what;
    log::error(fmt::format("not changing the host: {}", what),
               {{"CODE", name_of(health.error().code)}});
    if (health.error().code == Code::conflict) return loop.stop(1);  // another executor runs
    notify_systemd(fmt::format("READY=1\nSTATUS=Not changing the host: {}", what).c_str());
}

/// The objects of the process, in the order of construction.
struct Executor {
    Executor(Loop event_loop, executor::Root host, const config::ExecutorConfig& settings,
             uid_t agent)
        : loop(std::move(event_loop)),
          root(std::move(host)),
          engine(settings.state, root, systemd, settings.allow),
          service(loop, worker, engine,
                  {.agent_uid = agent,
                   .program = fmt::format("kubexm-executor {}", kVersion),
                   .on_health = [this](const Result<>& health) { on_health(loop, health); },
                   .on_open =
                       [] {
                           notify_systemd(
                               "READY=1\nSTATUS=Finishing an interrupted plan, if there is one.");
                       }}) {}
    ~Executor() { worker.finish(); }  // its jobs use the service
    Executor(const Executor&) = delete;
    Executor& operator=(const Executor&) = delete;

    Loop loop;
    executor::Root root;
    executor::Systemd systemd;
    executor::Engine engine;
    executor::Worker worker;
    executor::Service service;
};

/// Applies the allow-lists and the log level; other settings need a restart.
void apply(Executor& executor, const std::string& file, const config::ExecutorConfig& settings,
           const config::ExecutorConfig& started) {
    log::set_level(settings.log.level);
    executor.service.allow(settings.allow);
    log::notice(fmt::format("{} reloaded", file));
    if (settings.state != started.state || settings.agent_user != started.agent_user) {
        log::warning("state and agent_user need: systemctl restart kubexm-executor");
    }
}

void reload(Executor& executor, const std::string& file, const config::ExecutorConfig& started) {
    notify_systemd("RELOADING=1");
    const auto settings = config::load_executor(file);
    if (settings) apply(executor, file, *settings, started);
    if (!settings) {
        log::error(fmt::format("keeping the old configuration: {}", settings.error().what),
                   {{"CODE", name_of(settings.error().code)}});
    }
    notify_systemd("READY=1");
}

Result<int> serve(const DaemonOptions& options, const config::ExecutorConfig& settings) {
    const uid_t agent = TRY(uid_of(settings.agent_user));
    Fd socket = TRY(passed_socket());
    auto root = TRY(executor::Root::open("/"));
    auto loop = TRY(Loop::create());
    block_signals();
    Executor executor(std::move(loop), std::move(root), settings, agent);
    const auto stop = TRY(executor.loop.on_signal(SIGTERM, [&executor] {
        notify_systemd("STOPPING=1\nSTATUS=Finishing the running step.");
        executor.loop.stop(0);
    }));
    const auto hup =
        TRY(executor.loop.on_signal(SIGHUP, [&] { reload(executor, options.config, settings); }));
    TRY(executor.loop.feed_watchdog([&executor] {
        executor.service.on_wake_up();
        return executor.worker.alive();
    }));
    TRY(executor.service.listen(std::move(socket)));
    notify_systemd("STATUS=Opening the journal.");
    executor.service.recover();
    return executor.loop.run();
}

Result<int> run(const DaemonOptions& options) {
    const auto settings = TRY(config::load_executor(options.config));
    if (options.check_config) {
        fmt::print("{}", config::effective(settings));
        return 0;
    }
    log::set_level(settings.log.level);
    return serve(options, settings);
}

}  // namespace

int main(int argc, char** argv) {
    const DaemonText text{"kubexm-executor", kUsage, fmt::format("kubexm-executor {}\n", kVersion),
                          "/etc/kubexm/executor.yaml"};
    return daemon_main(argc, argv, text, run);
}
