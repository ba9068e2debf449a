#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace kubexm::executor {

/// A temporary directory.
class Scratch {
public:
    Scratch() {
        path_ = (std::filesystem::temp_directory_path() / "kubexm-journal-XXXXXX").string();
        if (::mkdtemp(path_.data()) == nullptr) std::abort();
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    ~Scratch() { std::filesystem::remove_all(path_); }

    const std::string& path() const { return path_; }
    std::string file(const std::string& name) const { return path_ + "/" + name; }
    bool has(const std::string& name) const { return std::filesystem::exists(file(name)); }

    /// Replaces the content with that of the other directory.
    void become(const Scratch& other) const {
        for (const auto& entry : std::filesystem::directory_iterator(path_)) {
            std::filesystem::remove_all(entry);
        }
        std::filesystem::copy(other.path_, path_, std::filesystem::copy_options::recursive);
    }

private:
    std::string path_;
};

inline std::string bytes_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_bytes(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

}  // namespace kubexm::executor
