#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "daemon/base/error.hpp"
#include "daemon/base/fd.hpp"

// Whole files and descriptors. `name` is for messages; errors have the codes of from_errno().

namespace kubexm {

/// A buffer for content that may be a secret: wiped when destroyed.
class WipedBuffer {
public:
    WipedBuffer() = default;
    WipedBuffer(const WipedBuffer&) = delete;
    WipedBuffer& operator=(const WipedBuffer&) = delete;
    ~WipedBuffer();

    /// The next bytes of a descriptor; empty at its end.
    Result<std::string_view> read(int fd, std::string_view name);

private:
    std::string bytes_ = std::string(std::size_t{64} * 1024, '\0');
};

/// Everything from the position of a descriptor to its end. invalid: more than `limit` bytes.
Result<std::string> read_rest(int fd, std::string_view name, std::size_t limit);

Result<> write_all(int fd, std::string_view bytes, std::string_view name);

/// Opens a regular file for reading without waiting for the writer of a named pipe.
/// not_found: no such file. invalid: not a regular file.
Result<Fd> open_regular(const std::string& path);

/// The content of a regular file.
Result<std::string> read_file(const std::string& path, std::size_t limit);

/// A descriptor with these bytes, at its beginning: a secret must not be in a file or in a message
/// to another process. The bytes cannot be changed.
Result<Fd> memory_file(std::string_view bytes);

/// Calls `each` with every name in a directory but "." and "..", until it fails.
Result<> each_entry(Fd directory, std::string_view name,
                    const std::function<Result<>(const std::string& entry)>& each);

/// The whole content of a descriptor, whatever its position is.
Result<std::string> read_whole(int fd, std::string_view name, std::size_t limit);

}  // namespace kubexm
