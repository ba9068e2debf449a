#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace kubexm {

/// A directory of one test, with all it holds gone at the end.
class TempDirectory {
public:
    TempDirectory() { EXPECT_NE(::mkdtemp(path_.data()), nullptr); }
    TempDirectory(const TempDirectory&) = delete;
    TempDirectory& operator=(const TempDirectory&) = delete;
    ~TempDirectory() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    const std::string& path() const { return path_; }
    std::string operator/(const std::string& name) const { return path_ + "/" + name; }

    void write(const std::string& name, const std::string& content) const {
        std::ofstream(*this / name) << content;
    }
    std::string read(const std::string& name) const {
        std::ifstream file(*this / name);
        return {std::istreambuf_iterator<char>(file), {}};
    }

private:
    std::string path_ = testing::TempDir() + "kubexm-XXXXXX";
};

}  // namespace kubexm
