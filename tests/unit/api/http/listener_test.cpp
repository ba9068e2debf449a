#include "api/http/listener.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>

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

TEST(Listener, OfSystemdDoesNotBlockAndStaysAfterTheProcess) {
    const TempDirectory directory;
    Fd socket = listening(directory / "s");
    const Fd of_systemd{::dup(socket.get())};
    auto passed = Listener::passed(std::move(socket), api::ListenerKind::socket);
    EXPECT_TRUE(passed.open()) << "is at its address";
    EXPECT_NE(::fcntl(passed.socket().get(), F_GETFL) & O_NONBLOCK, 0);
    passed.close();
    EXPECT_NO_THROW(Client::local(directory / "s"));
}

}  // namespace
}  // namespace kubexm::http
