#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace kubexm::config {

/// A temporary directory for the files of a test.
class Scratch {
public:
    Scratch() {
        std::string pattern = testing::TempDir() + "kubexm-config-XXXXXX";
        if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no scratch directory");
        top_ = pattern;
    }
    ~Scratch() { std::filesystem::remove_all(top_); }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    std::string path(const std::string& name) const { return top_ / name; }

    /// Writes a file, 0644, with its directories; returns its path.
    std::string write(const std::string& name, const std::string& text) const {
        const std::filesystem::path file = top_ / name;
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file) << text;
        using std::filesystem::perms;
        std::filesystem::permissions(
            file, perms::owner_read | perms::owner_write | perms::group_read | perms::others_read);
        return file;
    }

private:
    std::filesystem::path top_;
};

}  // namespace kubexm::config
