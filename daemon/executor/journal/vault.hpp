#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/base/fd.hpp"
#include "daemon/base/state_directory.hpp"

namespace kubexm::executor {

inline constexpr const char* kVaultDirectory = "content";  // beside the journal

/// The bytes that the journal names by digest: content of data and secret files, and of files that
/// were there before us. Files named by their SHA-256 in a root-only directory (0700, files 0600),
/// each written whole and durably or not at all. One thread, and one process: that which has the
/// journal open.
///
/// invalid: what is given as a digest is not 64 hexadecimal digits. exhausted, unavailable, denied:
/// disk full, I/O error, read-only; what was kept before is intact.
class Vault {
public:
    /// Makes the directory if it is missing; its parent must exist. denied: it is somebody else's.
    static Result<Vault> open(const std::string& directory);

    /// Reads a regular file from where its descriptor stands to its end (at most `limit` bytes) and
    /// keeps it. invalid: the digest is another, there is more, or it is no regular file (which
    /// could make us wait for ever).
    Result<> keep(int source, std::string_view digest, std::uint64_t limit);
    Result<> keep(std::string_view content, std::string_view digest);
    bool has(std::string_view digest) const;
    /// A descriptor for reading. corrupt: the bytes on the disk no longer have that digest.
    /// not_found: never kept.
    Result<Fd> open_blob(std::string_view digest) const;
    /// Removes every blob whose digest is not in `wanted`.
    Result<> keep_only(const std::vector<std::string>& wanted);

private:
    explicit Vault(StateDirectory directory) : directory_(std::move(directory)) {}
    using Write = std::function<Result<std::string>(int)>;
    Result<> keep_what(const Write& writes, std::string_view digest);
    StateDirectory directory_;
};

}  // namespace kubexm::executor
