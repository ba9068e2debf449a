#include "daemon/model/denied_sysctls.hpp"

#include <algorithm>
#include <array>

namespace kubexm::model {

namespace {

constexpr std::array<std::string_view, 36> kDenied{
    // The kernel runs the named program, or loads code.
    "fs.binfmt_misc.*",
    "kernel.core_pattern",
    "kernel.core_pipe_limit",
    "kernel.firmware_config.*",
    "kernel.hotplug",
    "kernel.kexec_load_disabled",
    "kernel.modprobe",
    "kernel.modules_disabled",
    "kernel.poweroff_cmd",
    "kernel.usermodehelper.*",
    // Protections of processes and of the kernel.
    "dev.tty.ldisc_autoload",
    "dev.tty.legacy_tiocsti",
    "fs.protected_fifos",
    "fs.protected_hardlinks",
    "fs.protected_regular",
    "fs.protected_symlinks",
    "fs.suid_dumpable",
    "fs.verity.*",
    "kernel.apparmor_restrict_unprivileged_userns",
    "kernel.bpf_stats_enabled",
    "kernel.cad_pid",
    "kernel.dmesg_restrict",
    "kernel.ftrace_enabled",
    "kernel.io_uring_disabled",
    "kernel.kptr_restrict",
    "kernel.perf_event_paranoid",
    "kernel.randomize_va_space",
    "kernel.sysrq",
    "kernel.unprivileged_bpf_disabled",
    "kernel.unprivileged_userns_clone",
    "kernel.yama.*",
    "net.core.bpf_jit_enable",
    "net.core.bpf_jit_harden",
    "net.core.bpf_jit_kallsyms",
    "vm.mmap_min_addr",
    "vm.unprivileged_userfaultfd",
};

/// The common prefix of all keys of a pattern: "fs.inotify." or "kernel.panic".
std::string_view stem_of(std::string_view pattern) {
    return pattern.ends_with(".*") ? pattern.substr(0, pattern.size() - 1) : pattern;
}

/// Whether a key matches both patterns.
bool overlap(std::string_view one, std::string_view other) {
    const bool one_is_wide = one.ends_with(".*");
    const bool other_is_wide = other.ends_with(".*");
    const std::string_view a = stem_of(one);
    const std::string_view b = stem_of(other);
    return a == b || (one_is_wide && b.starts_with(a)) || (other_is_wide && a.starts_with(b));
}

}  // namespace

bool is_denied_sysctl(std::string_view pattern) {
    return std::ranges::any_of(
        kDenied, [pattern](std::string_view denied) { return overlap(pattern, denied); });
}

}  // namespace kubexm::model
