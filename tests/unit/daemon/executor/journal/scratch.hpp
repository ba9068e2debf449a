#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/unit/temp_directory.hpp"

namespace kubexm::executor {

/// A temporary directory.
class Scratch {
public:
    const std::string& path() const { return temp_.path(); }
    std::string file(const std::string& name) const { return temp_ / name; }
    bool has(const std::string& name) const { return std::filesystem::exists(file(name)); }

    /// Replaces the content with that of the other directory.
    void become(const Scratch& other) const {
        for (const auto& entry : std::filesystem::directory_iterator(path())) {
            std::filesystem::remove_all(entry);
        }
        std::filesystem::copy(other.path(), path(), std::filesystem::copy_options::recursive);
    }

private:
    TempDirectory temp_;
};

inline std::string bytes_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_bytes(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

}  // namespace kubexm::executor
