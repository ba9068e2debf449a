#include "daemon/config/config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/daemon/config/scratch.hpp"

namespace kubexm::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

class Load : public testing::Test {
protected:
    Result<Config> load_scratch() const { return load(file_, drop_ins_); }
    std::string main(const std::string& text) const { return scratch_.write("kubexmd.yaml", text); }
    std::string drop_in(const std::string& name, const std::string& text) const {
        return scratch_.write("kubexmd.yaml.d/" + name, text);
    }

    Scratch scratch_;
    std::string file_ = scratch_.path("kubexmd.yaml");
    std::string drop_ins_ = scratch_.path("kubexmd.yaml.d");
};

TEST_F(Load, UsesDefaultsForMissingKeys) {
    EXPECT_EQ(load_scratch(), Config{});
    main("");
    EXPECT_EQ(load_scratch(), Config{});
    main("# nothing but a comment\n---\n");
    EXPECT_EQ(load_scratch(), Config{});
}

TEST_F(Load, ReadsTheFile) {
    main("log: {level: debug}\nexecutor:\n  socket: /run/h.sock\nstate: \"/srv/kubexm\"\n");
    const auto config = load_scratch();
    ASSERT_TRUE(config) << config.error().what;
    EXPECT_EQ(config->log.level, log::Level::debug);
    EXPECT_EQ(config->executor.socket, "/run/h.sock");
    EXPECT_EQ(config->state, "/srv/kubexm");
}

TEST_F(Load, ALaterFileWins) {
    const std::string first = main("log: {level: debug}\nstate: /a\n");
    drop_in("20-b.yaml", "state: /c\n");
    drop_in("10-a.yaml", "state: /b\nexecutor: {socket: /b.sock}\n");
    const auto config = load_scratch();
    ASSERT_TRUE(config) << config.error().what;
    EXPECT_EQ(config->state, "/c");
    EXPECT_EQ(config->executor.socket, "/b.sock");
    EXPECT_EQ(config->log.level, log::Level::debug);
    EXPECT_THAT(config->origins,
                ElementsAre(Pair("executor.socket", drop_ins_ + "/10-a.yaml"),
                            Pair("log.level", first), Pair("state", drop_ins_ + "/20-b.yaml")));
}

TEST_F(Load, ReadsDropInsWithoutTheMainFile) {
    drop_in("a.yaml", "state: /b\n");
    const auto config = load_scratch();
    ASSERT_TRUE(config) << config.error().what;
    EXPECT_EQ(config->state, "/b");
}

TEST_F(Load, IgnoresOtherFilesInTheDirectory) {
    drop_in("a.yaml.dpkg-old", "}");
    drop_in(".a.yaml", "}");
    drop_in("README", "}");
    EXPECT_EQ(load_scratch(), Config{});
}

TEST_F(Load, ListsTheProblemsOfAllFiles) {
    const std::string first = main(
        "lgo: {level: debug}\n"
        "state: var/lib\n"
        "executor:\n"
        "  socket: [a]\n"
        "  sokcet: /run/h.sock\n"
        "log:\n"
        "  level: verbose\n");
    const std::string second = drop_in("a.yaml", "state: {}\nstate: /b\n");
    const std::string third = drop_in("b.yaml", "state: [\n");
    const auto config = load_scratch();
    ASSERT_FALSE(config);
    EXPECT_EQ(config.error().code, Code::invalid);
    EXPECT_EQ(
        config.error().what,
        first +
            ":1:1: unknown key \"lgo\": expected one of api, executor, host, log, management, "
            "release, "
            "state; "
            "the nearest is "
            "\"log\"\n" +
            first +
            ":2:8: state: expected an absolute path without //, ., .. and / at its end, "
            "found \"var/lib\"\n" +
            first +
            ":4:11: executor.socket: expected an absolute path of at most 107 bytes without //, ., "
            ".. "
            "and / at its end, found a list\n" +
            first +
            ":5:3: unknown key \"executor.sokcet\": expected one of socket; the nearest is "
            "\"socket\"\n" +
            first +
            ":7:10: log.level: expected one of error, warning, notice, info, debug, "
            "found \"verbose\"\n" +
            second +
            ":1:8: state: expected an absolute path without //, ., .. and / at its end, "
            "found a mapping\n" +
            second + ":2:1: duplicate key, first set in line 1: state\n" + third +
            ":2:1: not YAML: end of sequence flow not found");
}

TEST_F(Load, ListsAtMostTwentyProblems) {
    std::string text;
    for (int i = 0; i < 30; ++i) text += "key" + std::to_string(i) + ": 1\n";
    main(text);
    const auto config = load_scratch();
    ASSERT_FALSE(config);
    EXPECT_EQ(std::ranges::count(config.error().what, '\n'), 20);
    EXPECT_THAT(config.error().what, testing::EndsWith("\nand 10 more"));
}

TEST_F(Load, RefusesAKeyWithoutAValue) {
    main("log:\n\n# level: info\n");
    EXPECT_THAT(load_scratch().error().what,
                HasSubstr(":1:1: log: expected a mapping, found nothing: omit the key"));
}

TEST_F(Load, ReportsAnAliasOnce) {
    main("log: &a {level: debug}\nexecutor: *a\n");
    EXPECT_EQ(load_scratch().error().what,
              file_ + ":1:6: expected a value without an anchor, found one that begins with &\n" +
                  file_ + ":2:11: expected a value, found an alias: write the value out");
}

TEST_F(Load, EscapesQuotedText) {
    main("state: \"\\e[2J" + std::string(100, 'x') + "\"\n");
    EXPECT_THAT(load_scratch().error().what,
                HasSubstr("found \"\\x1b[2J" + std::string(57, 'x') + "\""));
}

TEST_F(Load, ReportsAnUnreadableFileWithTheOtherProblems) {
    std::filesystem::create_directory(file_);
    const std::string other = drop_in("a.yaml", "stat: /a\n");
    const auto config = load_scratch();
    ASSERT_FALSE(config);
    EXPECT_EQ(config.error().what, file_ + ": expected a regular file\n" + other +
                                       ":1:1: unknown key \"stat\": expected one of api, executor, "
                                       "host, log, management, release, "
                                       "state; the nearest is \"state\"");
}

TEST_F(Load, ReportsAnUnreadableDropInDirectory) {
    scratch_.write("kubexmd.yaml.d", "");
    const auto config = load_scratch();
    ASSERT_FALSE(config);
    EXPECT_EQ(config.error().what, "read " + drop_ins_ + ": Not a directory");
}

}  // namespace
}  // namespace kubexm::config
