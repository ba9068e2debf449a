#include "daemon/base/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace kubexm {
namespace {

/// Words as main() gets them.
class Words {
public:
    explicit Words(std::vector<std::string> words) : words_(std::move(words)) {
        for (std::string& word : words_) pointers_.push_back(word.data());
    }
    int count() const { return static_cast<int>(pointers_.size()); }
    char** pointers() { return pointers_.data(); }
    std::span<char* const> after_the_name() const { return std::span(pointers_).subspan(1); }

private:
    std::vector<std::string> words_;
    std::vector<char*> pointers_;
};

Result<DaemonOptions> read(std::vector<std::string> words) {
    words.insert(words.begin(), "daemon");
    return read_daemon_options(Words(std::move(words)).after_the_name(), "/default");
}

TEST(DaemonOptions, HaveDefaults) {
    const auto options = read({});
    ASSERT_TRUE(options);
    EXPECT_EQ(options->config, "/default");
    EXPECT_FALSE(options->check_config || options->version || options->help);
}

TEST(DaemonOptions, AreReadInAnyOrder) {
    const auto options = read({"--check-config", "--config", "/other"});
    ASSERT_TRUE(options);
    EXPECT_EQ(options->config, "/other");
    EXPECT_TRUE(options->check_config);
}

TEST(DaemonOptions, NameTheUnknownWord) {
    EXPECT_THAT(read({"--confg", "/x"}).error().what, testing::HasSubstr("--confg"));
    EXPECT_THAT(read({"--config"}).error().what, testing::HasSubstr("--config"));
}

TEST(DaemonMain, TurnsOutcomesIntoExitCodes) {
    const DaemonText text{"daemon", "usage\n", "version\n", "/default"};
    const auto code_of = [&](std::vector<std::string> more, Result<int> outcome) {
        more.insert(more.begin(), "daemon");
        Words words(std::move(more));
        return daemon_main(words.count(), words.pointers(), text,
                           [&](const DaemonOptions&) { return outcome; });
    };
    EXPECT_EQ(code_of({}, 7), 7);
    EXPECT_EQ(code_of({}, fail(Code::invalid, "no")), 1);
    EXPECT_EQ(code_of({"--bogus"}, 7), 2);
    EXPECT_EQ(code_of({"--help"}, 7), 0);
    EXPECT_EQ(code_of({"--version"}, 7), 0);
}

}  // namespace
}  // namespace kubexm
