#include "daemon/base/secret.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace kubexm {
namespace {

constexpr std::string_view kShort = "abcdef.token";  // lives inside the string object
const std::string kLong(100, 'k');                   // lives on the heap

TEST(Secret, PrintsAsStars) {
    std::ostringstream out;
    out << Secret(std::string(kShort));
    EXPECT_EQ(out.str(), "***");
}

TEST(Secret, WipesItsSourceString) {
    std::string source(kShort);
    const char* bytes = source.data();
    Secret secret(std::move(source));
    EXPECT_EQ(secret.reveal(), kShort);
    // The buffer of a short string is inside the object.
    EXPECT_EQ(std::string_view(bytes, kShort.size()).find_first_not_of('\0'),
              std::string_view::npos);
}

TEST(Secret, MovingWipesTheSource) {
    Secret first(std::string{kShort});
    const char* bytes = first.reveal().data();
    Secret second(std::move(first));
    EXPECT_EQ(second.reveal(), kShort);
    EXPECT_EQ(std::string_view(bytes, kShort.size()).find_first_not_of('\0'),
              std::string_view::npos);
}

TEST(Secret, AssignmentReplacesTheBytes) {
    Secret secret{std::string(kLong)};
    secret = Secret{std::string(kShort)};
    EXPECT_EQ(secret.reveal(), kShort);
}

TEST(Wipe, ReachesTheWholeCapacity) {
    std::string bytes(kLong);
    const char* begin = bytes.data();
    const std::size_t size = bytes.size();
    bytes.resize(3);
    wipe(bytes);
    EXPECT_TRUE(bytes.empty());
    EXPECT_EQ(std::string_view(begin, size).find('k'), std::string_view::npos);
}

}  // namespace
}  // namespace kubexm
