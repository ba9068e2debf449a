#include "daemon/executor/host/protobuf.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "systemd_test.hpp"

namespace kubexm::executor::protobuf {
namespace {

using namespace std::string_literals;
using testing::ElementsAre;
using Values = std::vector<std::string_view>;
using testing::IsEmpty;

TEST(Protobuf, WritesAsTheSpecificationSays) {
    EXPECT_EQ(field(2, "testing"), "\x12\x07testing");  // the example of its guide
    EXPECT_EQ(field(1, std::string(300, 'a')), "\x0a\xac\x02" + std::string(300, 'a'));
    EXPECT_EQ(field(16, ""), "\x82\x01\x00"s);
    EXPECT_EQ(number_field(2, 1), "\x10\x01");
    EXPECT_EQ(number_field(2, 300), "\x10\xac\x02");
}

TEST(Protobuf, FindsAFieldAmongOthers) {
    const std::string others = "\x08\x96\x01" + "\x11"s + "eightbyt" + "\x1d" + "four";
    const std::string message = others + field(7, "one") + others + field(7, "") + field(8, "x");
    EXPECT_THAT(*fields(message, 7), ElementsAre("one", ""));
    EXPECT_THAT(*fields(message, 9), IsEmpty());
    EXPECT_EQ(*last_field(field(1, "old") + field(1, "new"), 1), "new");
    EXPECT_EQ(*last_field("", 1), "");
}

TEST(Protobuf, RefusesAnInvalidMessage) {
    const std::vector<std::string> hostile = {
        "\x0a",                                          // no length
        "\x0a\x05wxyz",                                  // shorter than it says
        "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",  // longer than any memory
        "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02",  // a length of more than 64 bits
        "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",  // a number without end
        "\x02\x00"s,                                     // field 0
        "\x80\x80\x80\x80\x10\x00"s,                     // a field beyond the largest
        "\x0b\x0c",                                      // a group
        "\x0e",                                          // no wire type
        "\x09short",                                     // eight bytes that are five
        "\x08",                                          // a number that is missing
        "\x08\x01",                                      // a number instead of a string
    };
    for (const std::string& message : hostile) {
        EXPECT_THAT(fields(message, 1), IsError(Code::invalid, "protobuf message: invalid"))
            << message;
    }
}

TEST(Protobuf, SurvivesEveryCutAndEveryFlip) {
    const std::string message = field(1, field(1, "abc") + field(2, "def")) + "\x10\x96\x01";
    for (std::size_t size = 0; size < message.size(); ++size) {
        for (int bit = 0; bit < 8; ++bit) {
            std::string broken = message;
            broken[size] = static_cast<char>(broken[size] ^ (1 << bit));
            for (const std::string_view value : fields(broken, 1).value_or(Values())) {
                EXPECT_GE(value.data(), broken.data());
                EXPECT_LE(value.data() + value.size(), broken.data() + broken.size());
            }
        }
        EXPECT_LE(fields(message.substr(0, size), 1).value_or(Values()).size(), 1U);
    }
}

}  // namespace
}  // namespace kubexm::executor::protobuf
