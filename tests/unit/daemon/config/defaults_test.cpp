#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "daemon/config/apply.hpp"
#include "daemon/config/config.hpp"
#include "daemon/config/executor_config.hpp"

namespace kubexm::config {
namespace {

/// The file with every setting uncommented: drops comments ("# words"), and the # of "#setting".
std::string uncommented(const std::string& name) {
    std::ifstream file(KUBEXM_ETC "/" + name);
    EXPECT_TRUE(file) << name;
    std::string text;
    for (std::string line; std::getline(file, line);) {
        const bool explains = line == "#" || (line.starts_with("# ") && !line.starts_with("#  "));
        if (!explains) text += (line.starts_with('#') ? line.substr(1) : line) + "\n";
    }
    return text;
}

/// All keys that a configuration has, as origins name them.
struct Keys {
    std::set<std::string>& all;
    std::string prefix;

    template <typename T>
    void operator()(std::string_view key, T& value, auto...) const {
        const std::string name = prefix + std::string(key);
        if constexpr (Settings<T>) {
            T::fields(value, Keys{all, name + "."});
        } else if constexpr (std::is_same_v<T, Lists>) {
            for (const auto& [type, paths] : value) all.insert((name + ".").append(type));
        } else {
            all.insert(name);
        }
    }
};

template <typename T>
std::set<std::string> keys_of() {
    T config;
    std::set<std::string> all;
    T::fields(config, Keys{all, ""});
    return all;
}

template <typename T>
void expect_same_as_built_in(const std::string& name) {
    T config;
    Problems problems;
    problems.begin_file(name);
    const std::string text = uncommented(name);
    apply(text, config, problems);
    ASSERT_TRUE(problems.empty()) << problems.error().error().what << "\n" << text;
    std::set<std::string> shown;
    for (const auto& [key, file] : config.origins) shown.insert(key);
    EXPECT_EQ(shown, keys_of<T>());
    config.origins.clear();
    EXPECT_EQ(config, T{});
}

TEST(ShippedFile, OfKubexmdShowsEveryDefault) { expect_same_as_built_in<Config>("kubexmd.yaml"); }

TEST(ShippedFile, OfTheExecutorShowsEveryDefault) {
    expect_same_as_built_in<ExecutorConfig>("executor.yaml");
}

TEST(ShippedFile, ChangesNothingAsItIs) {
    const auto config = load(KUBEXM_ETC "/kubexmd.yaml", "");
    ASSERT_TRUE(config) << config.error().what;
    EXPECT_EQ(*config, Config{});
}

}  // namespace
}  // namespace kubexm::config
