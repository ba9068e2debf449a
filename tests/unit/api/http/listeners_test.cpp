#include "api/http/listeners.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "tests/unit/api/http/client.hpp"
#include "tests/unit/temp_directory.hpp"

namespace kubexm::http {
namespace {

using testing::HasSubstr;

TEST(Listeners, RefuseOtherAddressesThanLoopback) {
    for (const char* address : {"0.0.0.0", "::", "192.0.2.1", "localhost", "", "127.0.0.1 "}) {
        auto refused = listen_tcp(address, 0);
        ASSERT_FALSE(refused) << address;
        EXPECT_EQ(refused.error().code, Code::invalid);
    }
    EXPECT_TRUE(listen_tcp("127.0.0.1", 0));
}

TEST(Listeners, NameAPortThatIsInUse) {
    auto first = listen_tcp("127.0.0.1", 0);
    ASSERT_TRUE(first);
    const auto port = port_of(*first);
    auto second = listen_tcp("127.0.0.1", port);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Code::conflict);
    EXPECT_THAT(second.error().what, HasSubstr("127.0.0.1 port " + std::to_string(port)));
    EXPECT_THAT(second.error().what, HasSubstr("configure another port"));
}

TEST(Listeners, KeepTheSocketOfALivingProcess) {
    const TempDirectory directory;
    const auto first = listen_unix(directory / "s");
    ASSERT_TRUE(first);
    auto second = listen_unix(directory / "s");
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Code::conflict);
    EXPECT_NO_THROW(Client::local(directory / "s"));
}

TEST(Listeners, ReplaceTheSocketOfADeadProcess) {
    const TempDirectory directory;
    {
        const auto dead = listen_unix(directory / "s");
    }
    EXPECT_THROW(Client::local(directory / "s"), std::runtime_error);
    EXPECT_TRUE(listen_unix(directory / "s"));
}

TEST(Listeners, NeverReplaceAFile) {
    const TempDirectory directory;
    directory.write("s", "precious");
    auto refused = listen_unix(directory / "s");
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().what, HasSubstr("expected a socket"));
    EXPECT_TRUE(std::filesystem::exists(directory / "s"));
}

TEST(Listeners, RefuseAPathThatIsRelativeOrTooLongOrWithoutDirectory) {
    EXPECT_FALSE(listen_unix("relative"));
    EXPECT_FALSE(listen_unix("/" + std::string(200, 'x')));
    const TempDirectory directory;
    auto missing = listen_unix(directory / "no/s");
    ASSERT_FALSE(missing);
    EXPECT_THAT(missing.error().what, HasSubstr("no/s"));
}

TEST(Listeners, TheSocketHasTheGroupOfItsDirectory) {
    if (::getuid() != 0) GTEST_SKIP() << "needs root for chown";
    const TempDirectory directory;
    constexpr gid_t kGroup = 12345;
    ASSERT_EQ(::chown(directory.path().c_str(), 0, kGroup), 0);
    ASSERT_EQ(::chmod(directory.path().c_str(), 02755), 0);
    ASSERT_TRUE(listen_unix(directory / "s"));
    struct stat found{};
    ASSERT_EQ(::stat((directory / "s").c_str(), &found), 0);
    EXPECT_EQ(found.st_gid, kGroup);
    EXPECT_EQ(found.st_mode & 07777U, 0660U);
}

}  // namespace
}  // namespace kubexm::http
