// kubexm-executor: carries out plans as root. Puts the modules together and nothing else.

#include <fmt/format.h>
#include <pwd.h>
#include <sys/socket.h>
#include <systemd/sd-daemon.h>

#include <csignal>
#include <string>
#include <string_view>

#include "daemon/base/log.hpp"
#include "daemon/base/options.hpp"
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
    "  --config FILE   root's allow-lists (default /etc/kubexm/executor.yaml)\n"
    "  --check-config  print the configuration that would be in effect, or what is wrong with it\n";

Result<uid_t> uid_of(const std::string& user) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): before any thread is started
    const passwd* entry = ::getpwnam(user.c_str());
    if (entry == nullptr) {
        return fail(Code::not_found,
                    fmt::format("user {} (agent_user in executor.yaml) does not exist: "
                                "run systemd-sysusers",
                                user));
    }
    return entry->pw_uid;
}

Result<Fd> passed_socket() {
    if (::sd_listen_fds(1) == 1) return Fd{SD_LISTEN_FDS_START};
    return fail(Code::unavailable,
                "no socket was passed: start kubexm-executor.socket, systemd starts the rest");
}

/// Before any thread is started: they are for the loop alone.
void block_signals() {
    sigset_t signals;
    ::sigemptyset(&signals);
    for (int number : {SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&signals, number);
    ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

/// A journal that cannot be used keeps the executor from changing anything, not from saying why.
void on_health(Loop& loop, const Result<>& health) {
    if (health) return notify_systemd("READY=1\nSTATUS=Ready for plans.");
    const std::string& what = health.error().what;
    log::error(fmt::format("nothing is changed on this host: {}", what),
               {{"CODE", name_of(health.error().code)}});
    if (health.error().code == Code::conflict)
        return loop.stop(1);  // another process is the executor
    notify_systemd(fmt::format("READY=1\nSTATUS=Holding: {}", what).c_str());
}

/// Everything that lives as long as the process, in the order of construction.
struct Executor {
    Executor(Loop event_loop, executor::Root host, const config::ExecutorConfig& settings,
             uid_t front)
        : loop(std::move(event_loop)),
          root(std::move(host)),
          engine(settings.state, root, systemd, settings.allow),
          service(loop, worker, engine,
                  {front, fmt::format("kubexm-executor {}", kVersion),
                   [this](const Result<>& health) { on_health(loop, health); }}) {}
    ~Executor() { worker.finish(); }  // what it runs uses the service
    Executor(const Executor&) = delete;
    Executor& operator=(const Executor&) = delete;

    Loop loop;
    executor::Root root;
    executor::Systemd systemd;
    executor::Engine engine;
    executor::Worker worker;
    executor::Service service;
};

/// Allow-lists and log level change at once; the rest decides what a process is made of.
void reload(Executor& executor, const std::string& file, const config::ExecutorConfig& started) {
    notify_systemd("RELOADING=1");
    auto settings = config::load_executor(file);
    if (settings) {
        log::set_level(settings->log.level);
        const bool taken = executor.worker.query(
            0, [&executor, allow = settings->allow] { executor.engine.allow(allow); });
        if (taken) log::notice(fmt::format("{} was read again", file));
        if (!taken) log::error("the old allow-lists stay: too much waits, reload again");
        if (settings->state != started.state || settings->agent_user != started.agent_user) {
            log::warning("state and agent_user change with: systemctl restart kubexm-executor");
        }
    } else {
        log::error(fmt::format("the old configuration stays: {}", settings.error().what),
                   {{"CODE", name_of(settings.error().code)}});
    }
    notify_systemd("READY=1");
}

Result<int> serve(const DaemonOptions& options, const config::ExecutorConfig& settings) {
    auto front = uid_of(settings.agent_user);
    if (!front) return std::unexpected(front.error());
    auto socket = passed_socket();
    if (!socket) return std::unexpected(socket.error());
    auto root = executor::Root::open("/");
    if (!root) return std::unexpected(root.error());
    auto loop = Loop::create();
    if (!loop) return std::unexpected(loop.error());
    block_signals();
    Executor executor(*std::move(loop), *std::move(root), settings, *front);
    auto stop = executor.loop.on_signal(SIGTERM, [&executor] {
        notify_systemd("STOPPING=1\nSTATUS=Finishing the step that runs.");
        executor.loop.stop(0);
    });
    if (!stop) return std::unexpected(stop.error());
    auto hup = executor.loop.on_signal(SIGHUP, [&] { reload(executor, options.config, settings); });
    if (!hup) return std::unexpected(hup.error());
    auto fed = executor.loop.feed_watchdog([&executor] { return executor.worker.alive(); });
    if (!fed) return std::unexpected(fed.error());
    if (auto listening = executor.service.listen(*std::move(socket)); !listening) {
        return std::unexpected(listening.error());
    }
    notify_systemd("STATUS=Looking for an interrupted plan.");
    executor.service.recover();
    return executor.loop.run();
}

Result<int> run(const DaemonOptions& options) {
    auto settings = config::load_executor(options.config);
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
    const DaemonText text{"kubexm-executor", kUsage, fmt::format("kubexm-executor {}\n", kVersion),
                          "/etc/kubexm/executor.yaml"};
    return daemon_main(argc, argv, text, run);
}
