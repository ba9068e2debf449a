#include "daemon/base/options.hpp"

#include <fmt/format.h>

#include <string_view>

namespace kubexm {

Result<DaemonOptions> read_daemon_options(std::span<char* const> words, std::string config) {
    DaemonOptions options{.config = std::move(config)};
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string_view word = words[i];
        if (word == "--config" && i + 1 < words.size()) {
            options.config = words[++i];
        } else if (word == "--check-config") {
            options.check_config = true;
        } else if (word == "--version") {
            options.version = true;
        } else if (word == "--help") {
            options.help = true;
        } else {
            return fail(Code::invalid, fmt::format("{} is not known; --help tells what is", word));
        }
    }
    return options;
}

}  // namespace kubexm
