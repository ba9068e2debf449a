#pragma once

#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <functional>
#include <future>
#include <thread>

#include "daemon/base/fd.hpp"
#include "tests/unit/daemon/executor/host/kernel_faults.hpp"

namespace kubexm::executor {

/// The calls that resolve or change names: only between these can another process interfere.
inline constexpr long kSteps[] = {
    SYS_openat,   SYS_openat2,  SYS_newfstatat, SYS_statx,       SYS_unlinkat,   SYS_renameat,
    SYS_mkdirat,  SYS_fchownat, SYS_symlinkat,  SYS_fchmodat,    SYS_readlinkat, SYS_getdents64,
    SYS_setxattr, SYS_getxattr, SYS_listxattr,  SYS_removexattr,
};
inline constexpr long kEnd = SYS_getppid;

/// Makes the kernel stop this thread before each of kSteps; returns the descriptor that resumes it.
inline Fd stop_before_steps() {
    std::vector<sock_filter> code{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
    const auto stop_at = [&code](long number) {
        code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(number), 0, 1));
        code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF));
    };
    for (const long number : kSteps) stop_at(number);
    stop_at(kEnd);
    code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    return Fd{add_filter(std::move(code), SECCOMP_FILTER_FLAG_NEW_LISTENER)};
}

/// Runs `work` in a thread and calls `between(i)` before its i-th step, from 0. Unprivileged.
inline void step_through(const std::function<void()>& work,
                         const std::function<void(int)>& between) {
    std::promise<int> listening;
    std::thread worker([&] {
        const Fd listener = stop_before_steps();
        listening.set_value(listener.get());
        work();
        ::syscall(kEnd);
    });
    const int listener = listening.get_future().get();
    for (int step = 0;; ++step) {
        seccomp_notif stopped{};
        if (::ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &stopped) != 0) break;
        if (stopped.data.nr != kEnd) between(step);
        seccomp_notif_resp answer{.id = stopped.id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
        ::ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
        if (stopped.data.nr == kEnd) break;
    }
    worker.join();
}

}  // namespace kubexm::executor
