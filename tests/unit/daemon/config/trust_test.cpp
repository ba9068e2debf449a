#include "daemon/config/trust.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scratch.hpp"

namespace kubexm::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

const std::string kDigest(64, 'a');
const std::string kOther(64, 'b');

TEST(Trust, ReadsTheFormatOfSha256sum) {
    const Scratch scratch;
    const auto file = scratch.write("trusted", "# ours\n\n" + kDigest + "  kubelet/v1/kubelet\n" +
                                                   kOther + " *cni/v2/bin/bridge");
    auto trusted = load_trust(file, ::geteuid());
    ASSERT_TRUE(trusted) << trusted.error().what;
    EXPECT_THAT(*trusted, ElementsAre(Pair("cni/v2/bin/bridge", kOther),
                                      Pair("kubelet/v1/kubelet", kDigest)));
}

TEST(Trust, IsEmptyWithoutAFile) {
    EXPECT_TRUE(load_trust("/nowhere/trusted", ::geteuid())->empty());
}

class Untrusted : public testing::TestWithParam<std::string> {};
TEST_P(Untrusted, LineIsNamed) {
    const Scratch scratch;
    const auto file = scratch.write("trusted", kDigest + "  a/b/c\n" + GetParam() + "\n");
    auto refused = load_trust(file, ::geteuid());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::invalid);
    EXPECT_THAT(refused.error().what, HasSubstr("trusted:2: expected"));
}
INSTANTIATE_TEST_SUITE_P(Trust, Untrusted,
                         testing::Values("short  a/b/d", kDigest, kDigest + " a/b/d",
                                         kDigest + "  kubelet", std::string(64, 'A') + "  a/b/d",
                                         kOther + "  a/b/c"));

TEST(Trust, RefusesAFileThatOthersCanWrite) {
    const Scratch scratch;
    const auto file = scratch.write("trusted", "");
    EXPECT_EQ(load_trust(file, ::geteuid() + 1).error().code, Code::denied);
    ASSERT_EQ(::chmod(file.c_str(), 0666), 0);
    EXPECT_EQ(load_trust(file, ::geteuid()).error().code, Code::denied);
}

}  // namespace
}  // namespace kubexm::config
