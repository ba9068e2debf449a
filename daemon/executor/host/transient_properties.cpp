// What a transient unit of ours is, in one place.

#include <linux/capability.h>

#include <cstdint>
#include <initializer_list>

#include "daemon/base/text.hpp"
#include "daemon/executor/host/transient.hpp"

namespace kubexm::executor {

namespace {

using bus::Request;

// After this a command that was told to end is killed.
constexpr std::uint64_t kStopMicroseconds = 10'000'000;

template <typename... Values>
void property(Request& request, const char* name, const char* type, Values... values) {
    request.add("(sv)", name, type, values...);
}

void add_list(Request& request, const char* name, bool allow,
              const std::vector<std::string>& list) {
    request.open('r', "sv").add("s", name).open('v', "(bas)").open('r', "bas");
    request.add("b", allow ? 1 : 0).add_strings(list);
    request.close().close().close();
}

/// argv as it stands: systemd would replace $NAME in it, unless it is told not to.
void add_command(Request& request, const std::vector<std::string>& argv) {
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

/// What any command that prepares or joins a node can live with. Nothing here makes a mount
/// namespace, as ProtectSystem=, PrivateTmp= and their like do: what a command mounts or unmounts
/// (kubeadm reset does) has to happen to the host. Devices stay open: a check may want the disks.
void harden(Request& request) {
    // It runs as root with all it needs: nothing that it starts has to gain more.
    property(request, "NoNewPrivileges", "b", 1);
    property(request, "RestrictSUIDSGID", "b", 1);
    // Containers are made by the runtime, never by the command itself.
    property(request, "RestrictNamespaces", "t", std::uint64_t{0});
    // No command that sets up a node is a real-time task, an emulator or a 32-bit program.
    property(request, "RestrictRealtime", "b", 1);
    property(request, "LockPersonality", "b", 1);
    property(request, "SystemCallArchitectures", "as", 1, "native");
    // The API server, the runtime's socket and the kernel's tables; no raw packets, no Bluetooth.
    add_list(request, "RestrictAddressFamilies", true,
             {"AF_UNIX", "AF_INET", "AF_INET6", "AF_NETLINK"});
    // The name is the host's: kubelet has registered or will register with it.
    property(request, "ProtectHostname", "b", 1);
    // Setting the clock, debugging other processes, rebooting and talking to hardware are not part
    // of setting up a node. Loading modules is.
    add_list(request, "SystemCallFilter", false,
             {"@clock", "@cpu-emulation", "@debug", "@obsolete", "@raw-io", "@reboot"});
    property(request, "SystemCallErrorNumber", "i", EPERM);
    property(request, "CapabilityBoundingSet", "t",
             all_but({CAP_SYS_TIME, CAP_WAKE_ALARM, CAP_SYS_BOOT, CAP_SYS_RAWIO, CAP_SYS_PTRACE,
                      CAP_SYS_PACCT, CAP_SYS_TTY_CONFIG, CAP_BLOCK_SUSPEND, CAP_LEASE,
                      CAP_AUDIT_CONTROL, CAP_AUDIT_READ, CAP_MAC_ADMIN, CAP_MAC_OVERRIDE}));
}

}  // namespace

void describe_transient(Request& request, const TransientCommand& command, bus::Deadline deadline) {
    request.add("ss", command.unit.c_str(), "fail").open('a', "(sv)");
    // A line of a unit file, whatever is in it.
    property(request, "Description", "s", printable(command.description).c_str());
    // oneshot: the start job ends with the command, and its result is the command's.
    property(request, "Type", "s", "oneshot");
    add_command(request, command.argv);
    property(request, "StandardOutput", "s", "journal");
    property(request, "TimeoutStartUSec", "t",
             static_cast<std::uint64_t>(bus::left_until(deadline).count()));
    property(request, "TimeoutStopUSec", "t", kStopMicroseconds);
    // Held by our connection until we have read the result, and then, or when we die, forgotten.
    property(request, "AddRef", "b", 1);
    property(request, "CollectMode", "s", "inactive-or-failed");
    harden(request);
    request.close().add("a(sa(sv))", 0);
}

}  // namespace kubexm::executor
