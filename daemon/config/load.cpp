#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

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

/// The *.yaml of a directory as a shell would list them; a directory that is missing has none.
Result<std::vector<std::string>> drop_ins(const std::string& directory) {
    std::vector<std::string> files;
    std::error_code error;
    for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
         entry.increment(error)) {
        const std::string name = entry->path().filename();
        if (name.ends_with(".yaml") && !name.starts_with('.')) files.push_back(entry->path());
    }
    if (error && error != std::errc::no_such_file_or_directory) {
        return from_errno("read", "the directory", error.value());
    }
    std::ranges::sort(files);
    return files;
}

/// Sets what the file says. `text` is what reading it gave.
template <typename T>
void apply_file(const Result<std::string>& text, T& config, Problems& problems) {
    if (text) {
        apply(*text, config, problems);
    } else if (text.error().code != Code::not_found) {
        problems.add({}, text.error().what, text.error().code);
    }
}

template <typename T>
Result<T> outcome(T config, const Problems& problems) {
    if (!problems.empty()) return problems.error();
    return config;
}

}  // namespace

Result<Config> load(const std::string& file, const std::string& drop_in_directory) {
    Config config;
    Problems problems;
    problems.begin_file(file);
    apply_file(read_file(file), config, problems);
    const auto others = drop_ins(drop_in_directory);
    if (!others) {
        problems.begin_file(drop_in_directory);
        problems.add({}, others.error().what, others.error().code);
        return problems.error();
    }
    for (const std::string& other : *others) {
        problems.begin_file(other);
        apply_file(read_file(other), config, problems);
    }
    return outcome(std::move(config), problems);
}

Result<ExecutorConfig> load_executor(const std::string& file) {
    ExecutorConfig config;
    Problems problems;
    problems.begin_file(file);
    apply_file(read_file_of(file, kRoot), config, problems);
    if (!problems.empty()) return problems.error();
    auto trusted = load_trust(config.trust, kRoot);
    if (!trusted) return std::unexpected(trusted.error());
    config.allow.digests = *std::move(trusted);
    return config;
}

}  // namespace kubexm::config
