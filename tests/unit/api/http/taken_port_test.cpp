#include <gmock/gmock.h>

#include <mutex>
#include <vector>

#include "api/http/listener.hpp"
#include "tests/unit/api/http/served.hpp"

namespace kubexm::http {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class TakenPort : public Served {};

TEST_F(TakenPort, IsRetriedWhileTheOtherListenersWork) {
    if (place_.server) GTEST_SKIP() << "needs a process of its own";
    auto other = Listener::tcp("127.0.0.1", 0);
    ASSERT_TRUE(other && other->open());
    const auto port = port_of(other->socket());
    std::mutex mutex;
    std::vector<Result<>> states;
    const auto last = [&] {
        const std::lock_guard lock(mutex);
        return states.back();
    };
    auto started = Server::start({.port = port, .socket = listening(place_.socket())},
                                 callbacks([&](const Result<>& changed) {
                                     const std::lock_guard lock(mutex);
                                     states.push_back(changed);
                                 }));
    ASSERT_TRUE(started);
    place_.server = *std::move(started);
    ASSERT_FALSE(last());
    EXPECT_THAT(last().error().what, HasSubstr("in use by another process"));
    EXPECT_THAT(ask(local(), "GET /healthz"), StartsWith("HTTP/1.1 200"));
    other->close();
    ASSERT_TRUE(soon([&] { return last().has_value(); }));
    EXPECT_THAT(ask(Client::tcp(port), "GET /healthz"), StartsWith("HTTP/1.1 200"));
    EXPECT_THAT(ask(local(), "GET /healthz"), StartsWith("HTTP/1.1 200"));
    place_.server->stop();
}

}  // namespace
}  // namespace kubexm::http
