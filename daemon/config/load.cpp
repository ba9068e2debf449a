#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "daemon/base/try.hpp"
#include "daemon/config/apply.hpp"
#include "daemon/config/config.hpp"
#include "daemon/config/executor_config.hpp"
#include "daemon/config/file.hpp"
#include "daemon/config/problems.hpp"
#include "daemon/config/trust.hpp"

namespace kubexm::config {

namespace {

namespace fs = std::filesystem;

constexpr uid_t kRoot = 0;

/// The *.yaml of a directory in lexical order; none if there is no directory.
Result<std::vector<std::string>> drop_ins(const std::string& directory) {
    std::vector<std::string> files;
    std::error_code error;
    for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
         entry.increment(error)) {
        const std::string name = entry->path().filename();
        if (name.ends_with(".yaml") && !name.starts_with('.')) files.push_back(entry->path());
    }
    if (error && error != std::errc::no_such_file_or_directory) {
        return from_errno("read", directory, error.value());
    }
    std::ranges::sort(files);
    return files;
}

template <typename T>
void apply_file(const Result<std::string>& text, T& config, Problems& problems) {
    if (text) {
        apply(*text, config, problems);
    } else if (text.error().code != Code::not_found) {
        problems.add(text.error());
    }
}

}  // namespace

Result<Config> load(const std::string& file, const std::string& drop_in_directory) {
    Config config;
    Problems problems;
    problems.begin_file(file);
    apply_file(read_config(file), config, problems);
    const auto others = drop_ins(drop_in_directory);
    if (!others) {
        problems.begin_file(drop_in_directory);
        problems.add(others.error());
        return problems.error();
    }
    for (const std::string& other : *others) {
        problems.begin_file(other);
        apply_file(read_config(other), config, problems);
    }
    if (!problems.empty()) return problems.error();
    return config;
}

Result<ExecutorConfig> load_executor(const std::string& file) {
    ExecutorConfig config;
    Problems problems;
    problems.begin_file(file);
    apply_file(read_config_of(file, kRoot), config, problems);
    if (!problems.empty()) return problems.error();
    config.allow.ignored_checks = config.preflight.ignore;
    config.allow.digests = TRY(load_trust(config.trust, kRoot));
    return config;
}

}  // namespace kubexm::config
