#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <ctime>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "daemon/base/error.hpp"
#include "daemon/executor/host/files.hpp"

namespace kubexm::executor {

/// Digests of large files: a file is read again only where it may have changed. One thread.
class KnownDigests {
public:
    using Now = std::function<std::time_t()>;
    explicit KnownDigests(Now now = [] { return std::time(nullptr); }) : now_(std::move(now)) {}

    /// SHA-256 of a regular file. not_found, denied, conflict: none is at the path. exhausted,
    /// timeout: the limit was reached.
    Result<std::string> digest_of(const Root& root, const std::string& path,
                                  const ReadLimit& limit);

private:
    /// Every change of a file changes one of these; only the kernel sets the time.
    struct Version {
        std::uint64_t device = 0;
        std::uint64_t inode = 0;
        std::int64_t size = 0;
        std::int64_t seconds = 0;
        std::int64_t nanoseconds = 0;

        bool operator==(const Version&) const = default;
    };
    struct Known {
        Version version;
        std::string digest;
    };
    static Version version_of(const struct stat& status);
    void remember(const std::string& path, const struct stat& status, const std::string& digest);

    Now now_;
    std::map<std::string, Known> known_;  // by path
};

}  // namespace kubexm::executor
