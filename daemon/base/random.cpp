#include "daemon/base/random.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <random>

namespace kubexm {

double system_random() {
    std::random_device device;
    return std::uniform_real_distribution<double>(0, 1)(device);
}

std::string new_id(std::string_view prefix, const Random& random) {
    const auto digits = [&] { return static_cast<std::uint32_t>(random() * 0x1p32); };
    return fmt::format("{}-{:08x}{:08x}", prefix, digits(), digits());
}

}  // namespace kubexm
