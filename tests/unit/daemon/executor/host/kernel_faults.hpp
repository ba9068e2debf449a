#pragma once

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <vector>

namespace kubexm::executor {

/// Returns 0 or a descriptor, as seccomp(2).
inline int add_filter(std::vector<sock_filter> code, unsigned flags = 0) {
    const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
    return static_cast<int>(::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program));
}

/// From now on a system call of this thread and its children returns an errno; 0: success without
/// an effect. Unprivileged.
inline bool answer_system_call(long number, int error) {
    return add_filter({
               BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
               BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(number), 0, 1),
               BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(error)),
               BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
           }) == 0;
}

/// The same for the removal of directories only.
inline bool answer_rmdir(int error) {
    return add_filter({
               BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
               BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_unlinkat, 0, 3),
               BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[2])),
               BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AT_REMOVEDIR, 0, 1),
               BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(error)),
               BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
           }) == 0;
}

}  // namespace kubexm::executor
