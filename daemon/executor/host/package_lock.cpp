#include "daemon/executor/host/package_lock.hpp"

#include <fcntl.h>

#include <algorithm>

namespace kubexm::executor {

bool packages_are_changing(const Root& root) {
    return std::ranges::any_of(kPackageLocks, [&](const char* path) {
        const auto file = open_file(root, path);
        struct flock lock{};
        lock.l_type = F_WRLCK;
        lock.l_whence = SEEK_SET;
        return file && ::fcntl(file->get(), F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
    });
}

}  // namespace kubexm::executor
