#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "daemon/config/apply.hpp"
#include "daemon/config/config.hpp"
#include "daemon/config/executor_config.hpp"
#include "daemon/model/denied_sysctls.hpp"

namespace {

using namespace kubexm::config;

/// Whether the text is accepted. A refusal has a printable reason.
template <typename T>
bool accepts(std::string_view text, T& config) {
    Problems problems;
    problems.begin_file("fuzz.yaml");
    apply(text, config, problems);
    if (problems.empty()) return true;
    const auto refusal = problems.error();
    const std::string& why = refusal.error().what;
    const auto is_control = [](char c) { return c >= 0 && c < 0x20 && c != '\n'; };
    if (why.empty() || std::ranges::any_of(why, is_control)) __builtin_trap();
    return false;
}

}  // namespace

// An accepted configuration reads back the same from effective(), and no text allows a denied
// kernel parameter.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    Config config;
    if (accepts(text, config)) {
        Config again;
        if (!accepts(effective(config), again)) __builtin_trap();
        again.origins = config.origins;
        if (again != config) __builtin_trap();
    }
    ExecutorConfig executor;
    if (accepts(text, executor) &&
        std::ranges::any_of(executor.allow.sysctls, kubexm::model::is_denied_sysctl)) {
        __builtin_trap();
    }
    return 0;
}
