#include <fmt/core.h>

#include <cstdio>
#include <string_view>

#include "daemon/base/version.hpp"

namespace {

constexpr std::string_view kUsage = "Usage: kubexm-hands --version | --help\n";

}  // namespace

int main(int argc, char** argv) {
    const std::string_view option = argc == 2 ? argv[1] : "";
    if (option == "--version") {
        fmt::print("kubexm-hands {}\n", kubexm::kVersion);
        return 0;
    }
    if (option == "--help") {
        fmt::print("{}", kUsage);
        return 0;
    }
    fmt::print(stderr, "{}", kUsage);
    return 2;
}
