#include "daemon/executor/host/known_digests.hpp"

#include "daemon/base/try.hpp"
#include "daemon/executor/host/place.hpp"

namespace kubexm::executor {

KnownDigests::Version KnownDigests::version_of(const struct stat& status) {
    return {status.st_dev, status.st_ino, status.st_size, status.st_ctim.tv_sec,
            status.st_ctim.tv_nsec};
}

/// The status is read first: a change during the reading makes another version.
Result<std::string> KnownDigests::digest_of(const Root& root, const std::string& path,
                                            const ReadLimit& limit) {
    const Fd file = TRY(open_file(root, path));
    const auto status = TRY(status_of(file.get(), shown(path)));
    const auto known = known_.find(path);
    if (known != known_.end() && known->second.version == version_of(status)) {
        return known->second.digest;
    }
    auto state = TRY(inspect_content(root, path, limit));
    if (!state.digest.empty()) remember(path, status, state.digest);
    return std::move(state.digest);
}

/// Two changes within a tick of the kernel's clock have the same time: a file that has just changed
/// is read once more.
void KnownDigests::remember(const std::string& path, const struct stat& status,
                            const std::string& digest) {
    known_.erase(path);
    if (status.st_ctim.tv_sec + 1 < now_()) {
        known_[path] = {version_of(status), digest};
    }
}

}  // namespace kubexm::executor
