#include "daemon/hands/host/runtime.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "daemon/base/fd.hpp"
#include "daemon/hands/host/grpc.hpp"
#include "daemon/hands/host/protobuf.hpp"
#include "scratch.hpp"
#include "systemd_test.hpp"

namespace kubexm::hands {
namespace {

using namespace std::string_literals;
using protobuf::member;
using testing::ElementsAre;
using testing::IsEmpty;

std::string pod(const std::string& id) {
    const std::string metadata = member(1, "name") + member(2, "uid") + member(3, "default");
    return member(1, member(1, id) + member(2, metadata) + "\x18\x01" + member(5, "label"));
}

TEST(Runtime, ReadsTheIdsOfPods) {
    EXPECT_THAT(*pods_in(pod("b2") + pod("a1")), ElementsAre("a1", "b2"));
    EXPECT_THAT(*pods_in(""), IsEmpty());
}

TEST(Runtime, TakesNothingForAnIdThatIsNone) {
    for (const std::string& id : {""s, "../../etc"s, "a b"s, "\x1b[2J"s, std::string(129, 'a')}) {
        EXPECT_THAT(pods_in(pod(id)), IsError(Code::invalid, "the id of a pod")) << id;
    }
    EXPECT_THAT(pods_in("\x0a\x05"
                        "abc"),
                IsError(Code::invalid, "list of pods"));
    EXPECT_THAT(pods_in(member(1,
                               "\x0a\x09"
                               "abc")),
                IsError(Code::invalid, "pod in a list"));
}

TEST(Grpc, FramesAreReadAsTheyAreWritten) {
    EXPECT_EQ(grpc::framed("abc"), "\0\0\0\0\3abc"s);
    EXPECT_EQ(*grpc::unframed(grpc::framed("")), "");
    EXPECT_EQ(*grpc::unframed(grpc::framed(std::string(70000, 'x'))), std::string(70000, 'x'));
}

TEST(Grpc, RefusesFramesThatAreNotOnePlainMessage) {
    for (const std::string& body : {""s, "\0\0\0\0"s, "\1\0\0\0\3abc"s, "\0\0\0\0\4abc"s,
                                    "\0\0\0\0\2abc"s, "\0\0\0\0\1a\0\0\0\0\1b"s}) {
        EXPECT_THAT(grpc::unframed(body), IsError(Code::invalid, "not one plain message"));
    }
}

TEST(Grpc, FindsTheTrailerItLooksFor) {
    EXPECT_EQ(grpc::value_of("grpc-status: 5\r\n", "grpc-status"), "5");
    EXPECT_EQ(grpc::value_of("grpc-status-details: 5\r\n", "grpc-status"), "");
    EXPECT_EQ(grpc::value_of("grpc-status:\r\n", "grpc-status"), "");
    EXPECT_EQ(grpc::value_of("grpc-status", "grpc-status"), "");
}

/// A socket that takes connections and never says a word.
class DeafServer {
public:
    explicit DeafServer(const std::string& path)
        : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        path.copy(address.sun_path, sizeof(address.sun_path) - 1);
        EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
        EXPECT_EQ(::listen(socket_.get(), 1), 0);
    }

private:
    Fd socket_;
};

TEST(Grpc, ARuntimeThatIsNotThereIsToldFromOneThatHangs) {
    const Scratch scratch;
    const std::string path = scratch.top() / "containerd.sock";
    const auto soon = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
    EXPECT_THAT(grpc::call(path, "a/B", "", soon), IsError(Code::not_found, "nobody listens"));
    {
        const DeafServer deaf(path);
        EXPECT_THAT(grpc::call(path, "a/B", "", soon), IsError(Code::timeout, "a/B at"));
    }
    EXPECT_THAT(grpc::call(path, "a/B", "", soon), IsError(Code::not_found, "nobody listens"));
}

}  // namespace
}  // namespace kubexm::hands
