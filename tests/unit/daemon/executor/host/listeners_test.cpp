#include "daemon/executor/host/listeners.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include "daemon/base/fd.hpp"

namespace kubexm::executor {
namespace {

/// A socket on a free port of the loopback address, and that port.
struct Bound {
    explicit Bound(int family) : socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in6 address{};
        auto* any = reinterpret_cast<sockaddr*>(&address);
        any->sa_family = static_cast<sa_family_t>(family);
        if (family == AF_INET6) address.sin6_addr = in6addr_loopback;
        if (family == AF_INET) {
            reinterpret_cast<sockaddr_in*>(any)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        }
        socklen_t size = sizeof(address);
        EXPECT_EQ(::bind(socket.get(), any, size), 0);
        EXPECT_EQ(::getsockname(socket.get(), any, &size), 0);
        port = ntohs(address.sin6_port);  // at the same place in both
    }

    Fd socket;
    std::uint16_t port = 0;
};

class Listeners : public testing::TestWithParam<int> {};

TEST_P(Listeners, AreFoundByTheirPort) {
    const Bound bound(GetParam());
    EXPECT_EQ(has_listener(bound.port).value_or(true), false) << "nobody listens yet";
    ASSERT_EQ(::listen(bound.socket.get(), 1), 0);
    EXPECT_EQ(has_listener(bound.port).value_or(false), true);
}

INSTANTIATE_TEST_SUITE_P(Families, Listeners, testing::Values(AF_INET, AF_INET6),
                         [](const auto& family) { return family.param == AF_INET ? "v4" : "v6"; });

}  // namespace
}  // namespace kubexm::executor
