#include "daemon/base/refusal.hpp"

#include <algorithm>
#include <cstdlib>
#include <ranges>

namespace kubexm {

bool is_off(std::string_view check) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): the environment is never changed
    const char* names = std::getenv("KUBEXM_TEST_CHECKS_OFF");
    if (names == nullptr) return false;
    return std::ranges::any_of(std::string_view(names) | std::views::split(','), [&](auto&& name) {
        return std::string_view(name.begin(), name.end()) == check;
    });
}

}  // namespace kubexm
