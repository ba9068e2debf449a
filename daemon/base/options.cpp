#include "daemon/base/options.hpp"

#include <fmt/format.h>

#include "daemon/base/log.hpp"

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
            return fail(Code::invalid, fmt::format("unknown option {}; see --help", word));
        }
    }
    return options;
}

int daemon_main(int argc, char** argv, const DaemonText& text,
                const std::function<Result<int>(const DaemonOptions&)>& run) {
    auto options = read_daemon_options({argv + 1, argv + argc}, text.config);
    if (!options) {
        fmt::print(stderr, "{}: {}\n", text.name, options.error().what);
        return 2;
    }
    if (options->help || options->version) {
        fmt::print("{}", options->help ? text.usage : text.version);
        return 0;
    }
    auto code = run(*options);
    if (code) return *code;
    log::error(code.error().what, {{"CODE", name_of(code.error().code)}});
    return 1;
}

}  // namespace kubexm
