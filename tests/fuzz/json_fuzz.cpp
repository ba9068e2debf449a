#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "daemon/base/json.hpp"

// Accepted text gives the same value as the library's own parser.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    auto document =
        kubexm::parse_json(text, {.max_bytes = 4096, .max_depth = 8, .max_values = 100});
    if (document && *document != nlohmann::json::parse(text)) __builtin_trap();
    return 0;
}
