#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <stdexcept>
#include <string>

namespace kubexm::http {

/// A directory for the sockets of one test, gone with it.
class Scratch {
public:
    Scratch() {
        std::string pattern = testing::TempDir() + "kubexm-http-XXXXXX";
        if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no scratch directory");
        top_ = pattern;
    }
    ~Scratch() { std::filesystem::remove_all(top_); }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    std::string path(const std::string& name) const { return top_ / name; }

private:
    std::filesystem::path top_;
};

}  // namespace kubexm::http
