#include "api/http/listener.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "daemon/base/try.hpp"
#include "tests/unit/api/http/client.hpp"
#include "tests/unit/temp_directory.hpp"

namespace kubexm::http {
namespace {

using testing::HasSubstr;

Result<Listener> open_tcp(std::uint16_t port) {
    Listener listener = TRY(Listener::tcp("127.0.0.1", port));
    TRY(listener.open());
    return listener;
}

Result<Listener> open_local(const std::string& path) {
    Listener listener = TRY(Listener::local(path));
    TRY(listener.open());
    return listener;
}

std::uint16_t port_at(const Listener& listener) { return port_of(listener.socket()); }

TEST(Listener, RefusesOtherAddressesThanLoopback) {
    for (const char* address : {"0.0.0.0", "::", "192.0.2.1", "localhost", "", "127.0.0.1 "}) {
        auto refused = Listener::tcp(address, 0);
        ASSERT_FALSE(refused) << address;
        EXPECT_EQ(refused.error().code, Code::invalid);
    }
    EXPECT_TRUE(open_tcp(0));
}

TEST(Listener, NamesAPortThatIsInUse) {
    auto first = open_tcp(0);
    ASSERT_TRUE(first);
    const auto port = port_at(*first);
    auto second = open_tcp(port);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Code::conflict);
    EXPECT_THAT(second.error().what, HasSubstr("127.0.0.1 port " + std::to_string(port)));
    EXPECT_THAT(second.error().what, HasSubstr("configure another port"));
}

TEST(Listener, WaitsForItsPort) {
    auto first = open_tcp(0);
    ASSERT_TRUE(first);
    const auto port = port_at(*first);
    auto second = Listener::tcp("127.0.0.1", port);
    ASSERT_TRUE(second);
    for (int i = 0; i < 3; ++i) {
        EXPECT_FALSE(second->open());
        EXPECT_NE(port_at(*second), port);
    }
    first->close();
    ASSERT_TRUE(second->open());
    EXPECT_EQ(port_at(*second), port);
    EXPECT_NO_THROW(Client::tcp(port));
    EXPECT_TRUE(second->open()) << "has no effect";
}

TEST(Listener, KeepsTheSocketOfALivingProcess) {
    const TempDirectory directory;
    auto first = open_local(directory / "s");
    ASSERT_TRUE(first);
    auto second = Listener::local(directory / "s");
    ASSERT_TRUE(second);
    const auto refused = second->open();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::conflict);
    EXPECT_NO_THROW(Client::local(directory / "s"));
    first->close();
    EXPECT_TRUE(second->open());
    EXPECT_NO_THROW(Client::local(directory / "s"));
}

TEST(Listener, RemovesItsFile) {
    const TempDirectory directory;
    auto open = open_local(directory / "s");
    auto waiting = Listener::local(directory / "s");
    ASSERT_TRUE(open && waiting);
    waiting->close();
    EXPECT_TRUE(std::filesystem::exists(directory / "s")) << "of the other one";
    open->close();
    EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST(Listener, ReplacesTheSocketOfADeadProcess) {
    const TempDirectory directory;
    {
        const auto dead = open_local(directory / "s");
        const auto never_opened = Listener::local(directory / "s");
    }
    EXPECT_THROW(Client::local(directory / "s"), std::runtime_error);
    EXPECT_TRUE(open_local(directory / "s"));
}

TEST(Listener, NeverReplacesAFile) {
    const TempDirectory directory;
    directory.write("s", "precious");
    auto refused = open_local(directory / "s");
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().what, HasSubstr("expected a socket"));
    EXPECT_TRUE(std::filesystem::is_regular_file(directory / "s"));
}

TEST(Listener, RefusesAPathThatIsRelativeOrTooLongOrWithoutDirectory) {
    EXPECT_FALSE(Listener::local("relative"));
    EXPECT_FALSE(Listener::local("/" + std::string(200, 'x')));
    const TempDirectory directory;
    auto missing = Listener::local(directory / "no/s");
    ASSERT_FALSE(missing);
    EXPECT_THAT(missing.error().what, HasSubstr("no/s"));
}

TEST(Listener, HasTheGroupOfItsDirectory) {
    if (::getuid() != 0) GTEST_SKIP() << "needs root for chown";
    const TempDirectory directory;
    constexpr gid_t kGroup = 12345;
    ASSERT_EQ(::chown(directory.path().c_str(), 0, kGroup), 0);
    ASSERT_EQ(::chmod(directory.path().c_str(), 02755), 0);
    ASSERT_TRUE(open_local(directory / "s"));
    struct stat found{};
    ASSERT_EQ(::stat((directory / "s").c_str(), &found), 0);
    EXPECT_EQ(found.st_gid, kGroup);
    EXPECT_EQ(found.st_mode & 07777U, 0660U);
}

}  // namespace
}  // namespace kubexm::http
