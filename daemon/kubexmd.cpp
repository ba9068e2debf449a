#include <fmt/core.h>

#include <cstdio>
#include <string_view>

#include "api/http/library.hpp"
#include "daemon/base/version.hpp"

namespace {

constexpr std::string_view kUsage = "Usage: kubexmd --version | --help\n";

}  // namespace

int main(int argc, char** argv) {
    const std::string_view option = argc == 2 ? argv[1] : "";
    if (option == "--version") {
        fmt::print("kubexmd {} ({})\n", kubexm::kVersion, kubexm::http::library());
        return 0;
    }
    if (option == "--help") {
        fmt::print("{}", kUsage);
        return 0;
    }
    fmt::print(stderr, "{}", kUsage);
    return 2;
}
