#include <linux/capability.h>

#include <cstdint>
#include <initializer_list>

#include "daemon/base/text.hpp"
#include "daemon/executor/host/transient.hpp"

namespace kubexm::executor {

namespace {

using bus::MethodCall;

// From SIGTERM to SIGKILL.
constexpr std::uint64_t kStopMicroseconds = 10'000'000;

template <typename... Values>
void property(MethodCall& request, const char* name, const char* type, Values... values) {
    request.add("(sv)", name, type, values...);
}

void add_list(MethodCall& request, const char* name, bool allow,
              const std::vector<std::string>& list) {
    request.open('r', "sv").add("s", name).open('v', "(bas)").open('r', "bas");
    request.add("b", allow ? 1 : 0).add_strings(list);
    request.close().close().close();
}

/// ExecStartEx, because ExecStart would expand $NAME in argv.
void add_command(MethodCall& request, const std::vector<std::string>& argv) {
    request.open('r', "sv").add("s", "ExecStartEx").open('v', "a(sasas)").open('a', "(sasas)");
    request.open('r', "sasas").add("s", argv.front().c_str()).add_strings(argv);
    request.add_strings({"no-env-expand"}).close();
    request.close().close().close();
}

constexpr std::uint64_t all_but(std::initializer_list<int> dropped) {
    std::uint64_t kept = (std::uint64_t{1} << (CAP_LAST_CAP + 1)) - 1;
    for (const int capability : dropped) kept &= ~(std::uint64_t{1} << capability);
    return kept;
}

/// Restrictions that any command which prepares or joins a node can work with. None of them creates
/// a mount namespace, as ProtectSystem= or PrivateTmp= would: commands such as kubeadm reset mount
/// and unmount on the host. Devices stay accessible: a preflight check may read disks.
void harden(MethodCall& request) {
    // The command is root already; its children need no further privileges.
    property(request, "NoNewPrivileges", "b", 1);
    property(request, "RestrictSUIDSGID", "b", 1);
    // The container runtime makes containers, not the command.
    property(request, "RestrictNamespaces", "t", std::uint64_t{0});
    // No command that sets up a node is a real-time task, an emulator or a 32-bit program.
    property(request, "RestrictRealtime", "b", 1);
    property(request, "LockPersonality", "b", 1);
    property(request, "SystemCallArchitectures", "as", 1, "native");
    // API server, runtime socket and netlink; no raw packets.
    add_list(request, "RestrictAddressFamilies", true,
             {"AF_UNIX", "AF_INET", "AF_INET6", "AF_NETLINK"});
    // kubelet registers with the host's name.
    property(request, "ProtectHostname", "b", 1);
    // Setting up a node may load modules; it does not set the clock, debug processes, reboot or
    // access hardware.
    add_list(request, "SystemCallFilter", false,
             {"@clock", "@cpu-emulation", "@debug", "@obsolete", "@raw-io", "@reboot"});
    property(request, "SystemCallErrorNumber", "i", EPERM);
    property(request, "CapabilityBoundingSet", "t",
             all_but({CAP_SYS_TIME, CAP_WAKE_ALARM, CAP_SYS_BOOT, CAP_SYS_RAWIO, CAP_SYS_PTRACE,
                      CAP_SYS_PACCT, CAP_SYS_TTY_CONFIG, CAP_BLOCK_SUSPEND, CAP_LEASE,
                      CAP_AUDIT_CONTROL, CAP_AUDIT_READ, CAP_MAC_ADMIN, CAP_MAC_OVERRIDE}));
}

}  // namespace

void add_transient(MethodCall& request, const TransientCommand& command, Deadline deadline) {
    request.add("ss", command.unit.c_str(), "fail").open('a', "(sv)");
    // On one line, as in a unit file.
    property(request, "Description", "s", printable(command.description).c_str());
    // oneshot: the start job ends with the command, and its result is the command's.
    property(request, "Type", "s", "oneshot");
    add_command(request, command.argv);
    property(request, "StandardOutput", "s", "journal");
    property(request, "TimeoutStartUSec", "t",
             static_cast<std::uint64_t>(bus::left_until(deadline).count()));
    property(request, "TimeoutStopUSec", "t", kStopMicroseconds);
    // Our connection references the unit until the result is read; then systemd unloads it.
    property(request, "AddRef", "b", 1);
    property(request, "CollectMode", "s", "inactive-or-failed");
    harden(request);
    request.close().add("a(sa(sv))", 0);
}

}  // namespace kubexm::executor
