#include "daemon/executor/wire/channel.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "daemon/executor/wire/messages.hpp"

namespace kubexm::wire {
namespace {

using namespace std::chrono_literals;

Deadline soon() { return std::chrono::steady_clock::now() + 10s; }

struct Pair {
    Pair() {
        int ends[2];
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
        left = Channel(Fd{ends[0]});
        right = Channel(Fd{ends[1]});
    }
    Channel left{Fd{}};
    Channel right{Fd{}};
};

long open_descriptors() {
    const std::filesystem::directory_iterator list("/proc/self/fd");
    return std::distance(begin(list), end(list));
}

TEST(Channel, TransfersFramesWholeAndInOrder) {
    Pair pair;
    const std::string large(kMaxFrame, 'x');
    std::jthread sender([&] {
        EXPECT_TRUE(pair.left.send("first", {}, soon()));
        EXPECT_TRUE(pair.left.send(large, {}, soon()));
    });
    EXPECT_EQ(pair.right.receive(soon())->text, "first");
    EXPECT_EQ(pair.right.receive(soon())->text, large);
}

TEST(Channel, TransfersDescriptors) {
    Pair pair;
    int pipe_ends[2];
    ASSERT_EQ(::pipe2(pipe_ends, O_CLOEXEC), 0);
    const Fd reader{pipe_ends[0]};
    Fd writer{pipe_ends[1]};
    const int passed[] = {reader.get()};
    ASSERT_TRUE(pair.left.send("take this", passed, soon()));
    auto frame = pair.right.receive(soon());
    ASSERT_TRUE(frame);
    ASSERT_EQ(frame->descriptors.size(), 1U);
    EXPECT_EQ(::fcntl(frame->descriptors[0].get(), F_GETFD), FD_CLOEXEC);
    ASSERT_EQ(::write(writer.get(), "secret", 6), 6);
    char bytes[6];
    ASSERT_EQ(::read(frame->descriptors[0].get(), bytes, 6), 6);
    EXPECT_EQ(std::string_view(bytes, 6), "secret");
}

TEST(Channel, DescriptorsOfARejectedFrameAreClosed) {
    Pair pair;
    const long before = open_descriptors();
    const Fd null{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
    const int passed[] = {null.get(), null.get(), null.get()};
    std::string oversized(kMaxFrame + 100, 'x');
    iovec bytes{oversized.data(), oversized.size()};
    // A hostile sender: send() rejects this frame.
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(passed))] = {};
    msghdr header{};
    header.msg_iov = &bytes;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof(control);
    cmsghdr* part = CMSG_FIRSTHDR(&header);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof(passed));
    std::copy(std::begin(passed), std::end(passed), reinterpret_cast<int*>(CMSG_DATA(part)));
    ASSERT_GT(::sendmsg(pair.left.fd(), &header, 0), 0);
    auto refused = pair.right.receive(soon());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::invalid);
    EXPECT_EQ(open_descriptors(), before + 1);
}

TEST(Channel, DoesNotSendAnOversizedFrame) {
    Pair pair;
    EXPECT_EQ(pair.left.send(std::string(kMaxFrame + 1, 'x'), {}, soon()).error().code,
              Code::invalid);
    const std::vector<int> many(kMaxDescriptors + 1, 0);
    EXPECT_EQ(pair.left.send("x", many, soon()).error().code, Code::invalid);
}

TEST(Channel, AClosedPeerIsUnavailable) {
    Pair pair;
    pair.left = Channel(Fd{});
    EXPECT_EQ(pair.right.receive(soon()).error().code, Code::unavailable);
    EXPECT_EQ(pair.right.send("x", {}, soon()).error().code, Code::unavailable);
}

TEST(Channel, FramesSentBeforeTheCloseAreReceived) {
    Pair pair;
    ASSERT_TRUE(pair.right.send("never read", {}, soon()));
    ASSERT_TRUE(pair.left.send("last words", {}, soon()));
    pair.left = Channel(Fd{});
    auto frame = pair.right.receive(soon());
    ASSERT_TRUE(frame) << frame.error().what;
    EXPECT_EQ(frame->text, "last words");
    EXPECT_EQ(pair.right.receive(soon()).error().code, Code::unavailable);
}

TEST(Channel, TheDeadlineEndsAWait) {
    Pair pair;
    EXPECT_EQ(pair.right.receive(std::chrono::steady_clock::now() + 20ms).error().code,
              Code::timeout);
}

TEST(Channel, PeerHasTheKernelsCredentials) {
    Pair pair;
    auto peer = pair.right.peer();
    ASSERT_TRUE(peer);
    EXPECT_EQ(peer->uid, ::getuid());
    EXPECT_EQ(peer->pid, ::getpid());
}

TEST(Channel, ConnectErrorsNameTheSocket) {
    auto refused = Channel::connect("/nonexistent/executor.sock");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::not_found);
    EXPECT_THAT(refused.error().what, testing::HasSubstr("/nonexistent/executor.sock"));
    EXPECT_EQ(Channel::connect("/" + std::string(200, 'x')).error().code, Code::invalid);
}

}  // namespace
}  // namespace kubexm::wire
