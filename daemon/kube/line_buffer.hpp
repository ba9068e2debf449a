#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace kubexm::kube {

/// Splits a stream of bytes into lines, in linear time also for small pieces.
class LineBuffer {
public:
    explicit LineBuffer(std::size_t max_line) : max_line_(max_line) {}

    /// False: a line exceeds the limit; the stream is unusable.
    bool append(std::string_view bytes) {
        drop_read();
        const std::size_t first = std::min(bytes.find('\n'), bytes.size());
        if (bytes_.size() - complete_ + first > max_line_) return false;
        bytes_ += bytes;
        if (const auto last = bytes.rfind('\n'); last != std::string_view::npos) {
            complete_ = bytes_.size() - (bytes.size() - last - 1);
        }
        return bytes_.size() - complete_ <= max_line_;
    }

    /// The next complete line, valid until bytes are appended.
    std::optional<std::string_view> next() {
        if (read_ == complete_) return std::nullopt;
        const std::size_t end = bytes_.find('\n', read_);
        const auto line = std::string_view(bytes_).substr(read_, end - read_);
        read_ = end + 1;
        return line;
    }

private:
    void drop_read() {
        if (read_ == 0) return;
        bytes_.erase(0, read_);
        complete_ -= read_;
        read_ = 0;
    }

    std::size_t max_line_;
    std::string bytes_;
    std::size_t read_ = 0;      // bytes that next() returned
    std::size_t complete_ = 0;  // bytes up to the last line break
};

}  // namespace kubexm::kube
