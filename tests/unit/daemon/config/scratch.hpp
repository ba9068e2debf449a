#pragma once

#include <filesystem>
#include <string>

#include "tests/unit/temp_directory.hpp"

namespace kubexm::config {

/// A temporary directory for the files of a test.
class Scratch {
public:
    std::string path(const std::string& name) const { return temp_ / name; }

    /// Writes a file, 0644, with its directories; returns its path.
    std::string write(const std::string& name, const std::string& text) const {
        const std::filesystem::path file = path(name);
        std::filesystem::create_directories(file.parent_path());
        temp_.write(name, text);
        using std::filesystem::perms;
        std::filesystem::permissions(
            file, perms::owner_read | perms::owner_write | perms::group_read | perms::others_read);
        return file;
    }

private:
    TempDirectory temp_;
};

}  // namespace kubexm::config
