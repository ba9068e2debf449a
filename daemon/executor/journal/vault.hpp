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

inline constexpr const char* kVaultDirectory = "content";    // beside the journal
inline constexpr const char* kChangedDirectory = "changed";  // beside the vault

/// The bytes that the journal names by digest: content of data and secret files, and pre-images of
/// files. Files named by their SHA-256 in a root-only directory (0700, files 0600), each written
/// whole and durably or not at all. One thread, in the process that has the journal open.
///
/// invalid: the digest is not a SHA-256 in lower-case hexadecimal. exhausted, unavailable, denied:
/// disk full, I/O error, read-only; stored content is intact.
class Vault {
public:
    /// Creates a missing directory; its parent must exist. denied: it has another owner.
    static Result<Vault> open(const std::string& directory);

    /// Stores a regular file, from the position of its descriptor to its end. invalid: it has
    /// another digest or more than `limit` bytes, or is not a regular file (reading could block).
    Result<> store(int source, std::string_view digest, std::uint64_t limit);
    Result<> store(std::string_view content, std::string_view digest);
    bool has(std::string_view digest) const;
    /// A descriptor for reading. corrupt: the bytes on the disk have another digest. not_found: not
    /// stored.
    Result<Fd> open_blob(std::string_view digest) const;
    /// Copies a file without an owner into the directory of changed files, for a
    /// person; the oldest of them are dropped. Returns the path of the copy. Can be repeated.
    struct Aside {
        std::string path;    // on the host
        std::string digest;  // of the content
        int source = -1;
    };
    Result<std::string> set_aside(const Aside& file, std::uint64_t limit);
    /// In bytes; 0: not stored.
    std::int64_t size(std::string_view digest) const;
    /// Of all blobs.
    Result<std::int64_t> bytes() const;
    /// Removes every blob whose digest is not in `wanted`.
    Result<> retain(const std::vector<std::string>& wanted);

private:
    explicit Vault(StateDirectory directory) : directory_(std::move(directory)) {}
    using Write = std::function<Result<std::string>(int)>;
    Result<> write_blob(const Write& write, const std::string& digest);
    Result<> store_as(const Write& write, std::string_view digest);
    StateDirectory directory_;
};

}  // namespace kubexm::executor
