#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "daemon/executor/host/files.hpp"

// What the tests of files share: a scratch root with a world outside of it that nobody may touch.

namespace kubexm::executor {

namespace fs = std::filesystem;

MATCHER(IsOk, "succeeds") {
    if (!arg) *result_listener << arg.error().what;
    return arg.has_value();
}

MATCHER_P2(IsError, code, text, "is an error with that code and text") {
    if (arg) return false;
    *result_listener << name_of(arg.error().code) << ": " << arg.error().what;
    return arg.error().code == code && arg.error().what.find(text) != std::string::npos;
}

class Scratch {
public:
    Scratch() {
        std::string name = (fs::temp_directory_path() / "kubexm-files-XXXXXX").string();
        top_ = ::mkdtemp(name.data());
        make_both();
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    ~Scratch() {
        std::error_code ignored;
        fs::remove_all(top_, ignored);
    }

    void make_both() const {
        fs::create_directory(inside());
        fs::create_directory(outside());
    }

    const fs::path& top() const { return top_; }
    fs::path inside() const { return top_ / "inside"; }
    fs::path outside() const { return top_ / "outside"; }
    Root root() const { return Root::open(inside().string()).value(); }

    /// A path as the code under test sees it, for the test's own executor.
    fs::path at(const std::string& path) const { return inside() / path.substr(1); }

private:
    fs::path top_;
};

class FilesTest : public ::testing::Test {
protected:
    fs::path at(const std::string& path) const { return scratch.at(path); }

    Scratch scratch;
    Root root = scratch.root();
};

inline void put(const fs::path& path, std::string_view content) {
    std::ofstream(path, std::ios::trunc) << content;
}

inline std::string content_of(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

inline std::set<std::string> names_in(const fs::path& directory) {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory)) {
        names.insert(entry.path().filename());
    }
    return names;
}

inline struct stat status_of(const fs::path& path) {
    struct stat seen{};
    ::lstat(path.c_str(), &seen);
    return seen;
}

inline std::uint32_t mode_of(const fs::path& path) { return status_of(path).st_mode & 07777U; }

inline std::string xattr_of(const fs::path& path, const char* name) {
    std::string value(256, '\0');
    const ssize_t size = ::lgetxattr(path.c_str(), name, value.data(), value.size());
    value.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
    return value;
}

inline void set_xattr(const fs::path& path, const char* name, std::string_view value) {
    EXPECT_EQ(::lsetxattr(path.c_str(), name, value.data(), value.size(), 0), 0) << name;
}

/// Attributes that any user may give to a file of their own.
inline Attributes own(std::uint32_t mode) { return {mode, ::geteuid(), ::getegid(), {}}; }

/// Enough for any content that a test makes.
inline Effort ample() {
    return {std::uint64_t{1} << 30U, std::chrono::steady_clock::now() + std::chrono::minutes(1)};
}

inline bool is_root() { return ::geteuid() == 0; }

}  // namespace kubexm::executor
