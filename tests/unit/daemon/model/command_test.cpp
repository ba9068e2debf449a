#include "daemon/model/command.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace kubexm::model {
namespace {

using testing::HasSubstr;

TEST(Command, IsReadAsItIsWritten) {
    std::vector<Command> commands;
    commands.reserve(Names<Verb>::kAll.size() + 2);
    for (const auto& [verb, name] : Names<Verb>::kAll) {
        commands.push_back({verb, {}, 0, "", "", ""});
    }
    commands.push_back({Verb::pause, std::chrono::hours(2), 0, "", ""});
    commands.push_back({Verb::pause, kLongestPause, 0, "", ""});
    for (const Command& command : commands) {
        EXPECT_EQ(command_from_json(to_json(command)).value(), command) << to_json(command);
    }
}

TEST(Command, IsWrittenAsDocumented) {
    EXPECT_EQ(to_json({Verb::pause, std::chrono::seconds(90), 0, "", ""}),
              R"({"for":90,"verb":"pause"})");
    EXPECT_EQ(to_json({Verb::leave, {}, 0, "", "", ""}), R"({"verb":"leave"})");
}

TEST(Command, OfAnUnknownClientIsRefusedWithTheMember) {
    const std::vector<std::pair<std::string, std::string>> cases{
        {"", "operation: "},
        {"leave", "operation: "},
        {"[]", "operation: expected an object"},
        {"{}", "operation.verb: expected, found none"},
        {R"({"verb":"format"})", "operation.verb: expected one of pause, resume, leave"},
        {R"({"verb":["leave"]})", "operation.verb: expected one of"},
        {R"({"verb":"leave","verb":"pause"})", "operation: "},
        {R"({"verb":"leave","uid":0})", "operation.uid: is not known"},
        {R"({"verb":"leave","for":60})", "operation.for: only a pause"},
        {R"({"verb":"pause","for":0})", "operation.for: expected 1 to 2592000 seconds"},
        {R"({"verb":"pause","for":2592001})", "operation.for: expected 1 to"},
        {R"({"verb":"pause","for":-1})", "operation.for: expected a whole number"},
        {R"({"verb":"pause","for":1.5})", "operation.for: expected a whole number"},
        {R"({"verb":"pause","for":"2h"})", "operation.for: expected a whole number"},
        {R"({"verb":"pause","for":null})", "operation.for: expected a whole number"},
        {R"({"verb":"pause","for":18446744073709551616})", "operation.for: expected a whole"},
        {R"({"verb":"pause","for":[[[[1]]]]})", "operation: "},
        {R"({"verb":")" + std::string(5000, 'x') + R"("})", "operation: "}};
    for (const auto& [body, reason] : cases) {
        const auto refused = command_from_json(body);
        ASSERT_FALSE(refused) << body;
        EXPECT_EQ(refused.error().code, Code::invalid) << body;
        EXPECT_THAT(refused.error().what, HasSubstr(reason)) << body;
    }
}

}  // namespace
}  // namespace kubexm::model
