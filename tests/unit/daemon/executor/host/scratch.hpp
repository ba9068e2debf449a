#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "daemon/base/unix_address.hpp"
#include "daemon/executor/host/files.hpp"
#include "tests/unit/temp_directory.hpp"

// Shared by the tests of files: a root directory, and a directory outside that must not change.

namespace kubexm::executor {

namespace fs = std::filesystem;

MATCHER(IsOk, "succeeds") {
    if (!arg) *result_listener << arg.error().what;
    return arg.has_value();
}

MATCHER_P2(IsError, code, text, "is an error with the code and the text") {
    if (arg) return false;
    *result_listener << name_of(arg.error().code) << ": " << arg.error().what;
    return arg.error().code == code && arg.error().what.find(text) != std::string::npos;
}

class Scratch {
public:
    Scratch() { make_both(); }

    void make_both() const {
        fs::create_directory(inside());
        fs::create_directory(outside());
    }

    fs::path top() const { return directory_.path(); }
    fs::path inside() const { return directory_ / "inside"; }
    fs::path outside() const { return directory_ / "outside"; }
    Root root() const { return Root::open(inside().string()).value(); }

    /// The real path of a path beneath the root.
    fs::path at(const std::string& path) const { return inside() / path.substr(1); }

private:
    TempDirectory directory_;
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
    struct stat status{};
    ::lstat(path.c_str(), &status);
    return status;
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

/// Attributes that any user may set on an own file.
inline Attributes own(std::uint32_t mode) { return {mode, ::geteuid(), ::getegid(), {}}; }

inline ReadLimit ample() {
    return {std::uint64_t{1} << 30U, std::chrono::steady_clock::now() + std::chrono::minutes(1)};
}

inline Fd listen_at(const std::string& path, int flags = 0, int backlog = 0) {
    Fd listener{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0)};
    const sockaddr_un address = unix_address(path).value();
    const auto* generic = reinterpret_cast<const sockaddr*>(&address);
    EXPECT_EQ(::bind(listener.get(), generic, sizeof(address)), 0);
    EXPECT_EQ(::listen(listener.get(), backlog), 0);
    return listener;
}

inline bool is_root() { return ::geteuid() == 0; }

}  // namespace kubexm::executor
