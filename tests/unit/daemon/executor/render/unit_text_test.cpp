#include "daemon/executor/render/unit_text.hpp"

#include <gtest/gtest.h>

namespace kubexm::executor {
namespace {

TEST(CommandWord, IsReadBackBySystemdUnchanged) {
    EXPECT_EQ(command_word("--node-labels=a=b"), R"("--node-labels=a=b")");
    EXPECT_EQ(command_word(""), R"("")");
    EXPECT_EQ(command_word("two words; # one"), R"("two words; # one")");
}

TEST(CommandWord, ExpandsNoSpecifierAndNoVariable) {
    EXPECT_EQ(command_word("100%n"), R"("100%%n")");
    EXPECT_EQ(command_word("$HOME ${X} $$"), R"("$$HOME $${X} $$$$")");
}

TEST(CommandWord, StaysInsideItsQuotes) {
    EXPECT_EQ(command_word(R"(a" "--x)"), R"("a\" \"--x")");
    EXPECT_EQ(command_word(R"(a\)"), R"("a\\")");
    EXPECT_EQ(command_word(R"(\"')"), R"("\\\"'")");
}

TEST(EnvironmentWord, KeepsTheDollarSign) {
    EXPECT_EQ(environment_word("A=$B%c\"\\"), R"("A=$B%%c\"\\")");
}

TEST(Filled, DoesNotExpandTheValueAgain) {
    EXPECT_EQ(filled("ExecStart=/bin/a @FLAGS@\nRestart=always\n", "@FLAGS@", "--b=@FLAGS@"),
              "ExecStart=/bin/a --b=@FLAGS@\nRestart=always\n");
}

}  // namespace
}  // namespace kubexm::executor
