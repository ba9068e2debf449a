#include "daemon/agent/link_watch.hpp"

#include <gtest/gtest.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cstring>
#include <thread>

#include "tests/unit/daemon/loop/running_loop.hpp"

namespace kubexm::agent {
namespace {

void set_loopback_up() {
    const Fd socket{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    ifreq request{};
    std::strcpy(request.ifr_name, "lo");
    ASSERT_EQ(::ioctl(socket.get(), SIOCGIFFLAGS, &request), 0);
    request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP);
    ASSERT_EQ(::ioctl(socket.get(), SIOCSIFFLAGS, &request), 0);
}

/// In a network namespace of this thread.
void expect_an_event() {
    Loop loop = make_loop();
    int events = 0;
    LinkWatch watch(loop, [&] {
        ++events;
        loop.stop(0);
    });
    ASSERT_TRUE(watch.start());
    EXPECT_FALSE(must(loop.turn())) << "nothing has changed yet";
    set_loopback_up();
    EXPECT_EQ(run(loop), 0);
    EXPECT_EQ(events, 1);
}

TEST(LinkWatch, ReportsAChangedLink) {
    bool entered = false;
    std::thread([&] {
        entered = ::unshare(CLONE_NEWNET) == 0;
        if (entered) expect_an_event();
    }).join();
    if (!entered) GTEST_SKIP() << "only root can make a network namespace in a thread";
}

}  // namespace
}  // namespace kubexm::agent
