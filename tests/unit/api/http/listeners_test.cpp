#include "api/http/listeners.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>

#include "tests/unit/api/http/client.hpp"
#include "tests/unit/api/http/scratch.hpp"

namespace kubexm::http {
namespace {

using testing::HasSubstr;

TEST(Listeners, OnlyLoopbackIsListenedOn) {
    for (const char* address : {"0.0.0.0", "::", "192.0.2.1", "localhost", "", "127.0.0.1 "}) {
        auto refused = listen_tcp(address, 0);
        ASSERT_FALSE(refused) << address;
        EXPECT_EQ(refused.error().code, Code::invalid);
    }
    EXPECT_TRUE(listen_tcp("127.0.0.1", 0));
}

TEST(Listeners, APortInUseIsNamedWithWhatToDo) {
    auto first = listen_tcp("127.0.0.1", 0);
    ASSERT_TRUE(first);
    const auto port = port_of(*first);
    auto second = listen_tcp("127.0.0.1", port);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Code::conflict);
    EXPECT_THAT(second.error().what, HasSubstr("127.0.0.1 port " + std::to_string(port)));
    EXPECT_THAT(second.error().what, HasSubstr("configure another port"));
}

TEST(Listeners, ASocketOfALivingProcessIsLeftAlone) {
    const Scratch scratch;
    const auto first = listen_unix(scratch.path("s"));
    ASSERT_TRUE(first);
    auto second = listen_unix(scratch.path("s"));
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Code::conflict);
    EXPECT_NO_THROW(Client::local(scratch.path("s")));
}

TEST(Listeners, ASocketOfADeadProcessIsReplaced) {
    const Scratch scratch;
    {
        const auto dead = listen_unix(scratch.path("s"));
    }
    EXPECT_THROW(Client::local(scratch.path("s")), std::runtime_error);
    EXPECT_TRUE(listen_unix(scratch.path("s")));
}

TEST(Listeners, AFileIsNeverReplaced) {
    const Scratch scratch;
    std::ofstream(scratch.path("s")) << "precious";
    auto refused = listen_unix(scratch.path("s"));
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().what, HasSubstr("is no socket"));
    EXPECT_TRUE(std::filesystem::exists(scratch.path("s")));
}

TEST(Listeners, APathMustFitAndItsDirectoryBeThere) {
    EXPECT_FALSE(listen_unix("relative"));
    EXPECT_FALSE(listen_unix("/" + std::string(200, 'x')));
    const Scratch scratch;
    auto missing = listen_unix(scratch.path("no/s"));
    ASSERT_FALSE(missing);
    EXPECT_THAT(missing.error().what, HasSubstr("no/s"));
}

TEST(Listeners, TheSocketTakesTheGroupOfItsDirectory) {
    if (::getuid() != 0) GTEST_SKIP() << "needs root, to give the directory away";
    const Scratch scratch;
    constexpr gid_t kGroup = 12345;
    ASSERT_EQ(::chown(scratch.path("").c_str(), 0, kGroup), 0);
    ASSERT_EQ(::chmod(scratch.path("").c_str(), 02755), 0);
    ASSERT_TRUE(listen_unix(scratch.path("s")));
    struct stat found{};
    ASSERT_EQ(::stat(scratch.path("s").c_str(), &found), 0);
    EXPECT_EQ(found.st_gid, kGroup);
    EXPECT_EQ(found.st_mode & 07777U, 0660U);
}

}  // namespace
}  // namespace kubexm::http
