#include "daemon/executor/host/grpc.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <chrono>

#include "daemon/base/text.hpp"
#include "daemon/executor/host/unix_stream.hpp"
#include "fake_http2.hpp"
#include "scratch.hpp"

namespace kubexm::executor {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using testing::IsSupersetOf;
using testing::Pair;

const std::string kSettings = frame(Frame::settings, 0, 0, "");
const std::string kAcknowledged = frame(Frame::settings, 1, 0, "");
const std::string kOk = header(":status", "200") + header("content-type", "application/grpc");
const std::string kHeaders = frame(Frame::headers, kEndHeaders, 1, kOk);

std::string data(const std::string& body) { return frame(Frame::data, 0, 1, body); }
/// The last headers of a stream.
std::string last(const std::string& headers) {
    return frame(Frame::headers, kEndHeaders | kEndStream, 1, headers);
}
const std::string kFine = last(header("grpc-status", "0"));

std::string answer_of(const std::string& body) { return kSettings + kHeaders + data(body) + kFine; }
/// Without a body.
std::string at_once(const std::string& trailers) { return kSettings + last(kOk + trailers); }

/// A deadline that no test reaches, and one that tests of stalling servers do.
Deadline late() { return std::chrono::steady_clock::now() + 60s; }
Deadline brief() { return std::chrono::steady_clock::now() + 100ms; }

Result<std::string> call(const FakeServer& server, Deadline deadline = late()) {
    return grpc::call(server.path(), "a.v1.B/C", "question", deadline);
}

Result<std::string> call_one_that_says(const std::string& bytes) {
    return call(FakeServer(says(bytes)));
}

/// The answer or the text of the error.
std::string answer_or_error(const Result<std::string>& answer) {
    return answer ? *answer : answer.error().what;
}

TEST(Grpc, FramesAreReadAsTheyAreWritten) {
    EXPECT_EQ(grpc::framed("abc"), "\0\0\0\0\3abc"s);
    EXPECT_EQ(*grpc::unframed(grpc::framed("")), "");
    EXPECT_EQ(*grpc::unframed(grpc::framed(std::string(70000, 'x'))), std::string(70000, 'x'));
}

/// The whole answer to one of several calls.
std::string answer_on(std::uint32_t stream, const std::string& body, const std::string& status) {
    return frame(Frame::headers, kEndHeaders, stream, kOk) +
           frame(Frame::data, 0, stream, grpc::framed(body)) +
           frame(Frame::headers, kEndHeaders | kEndStream, stream, header("grpc-status", status));
}

TEST(Grpc, SeveralCallsGetTheirOwnAnswersInAnyOrder) {
    const FakeServer server(says(kSettings + answer_on(5, "third", "0") +
                                 answer_on(1, "first", "0") + answer_on(3, "", "5")));
    const std::vector<std::string> questions{"a", "b", "c"};
    const auto replies = grpc::call_all(server.path(), "a.v1.B/C", questions, late());
    ASSERT_EQ(replies.size(), 3U);
    EXPECT_EQ(answer_or_error(replies[0]), "first");
    EXPECT_THAT(replies[1], IsError(Code::not_found, "a.v1.B/C"));
    EXPECT_EQ(answer_or_error(replies[2]), "third");
}

TEST(Grpc, ACallWithoutAnAnswerDoesNotTakeTheOthersWithIt) {
    const FakeServer server(says(kSettings + answer_on(3, "second", "0")));
    const std::vector<std::string> questions{"a", "b"};
    const auto replies = grpc::call_all(server.path(), "a.v1.B/C", questions, brief());
    EXPECT_THAT(replies[0], IsError(Code::timeout, "a.v1.B/C"));
    EXPECT_EQ(answer_or_error(replies[1]), "second");
}

TEST(Grpc, RefusesFramesThatAreNotOnePlainMessage) {
    for (const std::string& body : {""s, "\0\0\0\0"s, "\1\0\0\0\3abc"s, "\0\0\0\0\4abc"s,
                                    "\0\0\0\0\2abc"s, "\0\0\0\0\1a\0\0\0\0\1b"s}) {
        EXPECT_THAT(grpc::unframed(body),
                    IsError(Code::invalid, "expected one uncompressed message"));
        EXPECT_THAT(call_one_that_says(answer_of(body)),
                    IsError(Code::invalid, "expected one uncompressed message"));
    }
}

TEST(Grpc, SendsTheHeadersOfTheProtocol) {
    HttpRequest seen;
    {
        const FakeServer server(answers([&seen](const HttpRequest& request) {
            seen = request;
            return grpc::framed("answer");
        }));
        EXPECT_EQ(answer_or_error(call(server)), "answer");
    }
    EXPECT_EQ(seen.body, grpc::framed("question"));
    EXPECT_THAT(seen.headers,
                IsSupersetOf({Pair(":method", "POST"), Pair(":path", "/a.v1.B/C"),
                              Pair("content-type", "application/grpc"), Pair("te", "trailers")}));
}

TEST(Grpc, MessagesMayBeLargerThanTheWindows) {
    const FakeServer server(answers([](const HttpRequest& request) { return request.body; }));
    const std::string large(std::size_t{16} << 20U, 'x');
    EXPECT_EQ(answer_or_error(grpc::call(server.path(), "a/B", large, late())), large);
}

TEST(Grpc, RefusesAnAnswerThatIsTooLarge) {
    const FakeServer server(answers(
        [](const HttpRequest&) { return grpc::framed(std::string(std::size_t{17} << 20U, 'x')); }));
    EXPECT_THAT(call(server), IsError(Code::unavailable, "at most 17825792 bytes"));
}

TEST(Grpc, AcceptsAnAnswerThatEndsWithTheConnection) {
    const FakeServer server(says_and_leaves(answer_of(grpc::framed("answer"))));
    EXPECT_EQ(answer_or_error(call(server)), "answer");
}

TEST(Grpc, MapsAStatusToACode) {
    for (const auto& [status, code] : {std::pair("3"s, Code::invalid),
                                       {"4"s, Code::timeout},
                                       {"5"s, Code::not_found},
                                       {"7"s, Code::denied},
                                       {"8"s, Code::exhausted},
                                       {"12"s, Code::not_found},
                                       {"14"s, Code::unavailable},
                                       {"00"s, Code::unavailable}}) {
        const std::string why = "its reason (gRPC status " + status + ")";
        const std::string refused =
            header("grpc-status", status) + header("grpc-message", "its reason");
        EXPECT_THAT(call_one_that_says(kSettings + kHeaders + last(refused)), IsError(code, why));
        EXPECT_THAT(call_one_that_says(at_once(refused)), IsError(code, why));
    }
}

TEST(Grpc, RefusesAnAnswerWithoutAStatus) {
    EXPECT_THAT(call_one_that_says(kSettings + last(header(":status", "404"))),
                IsError(Code::unavailable, "no gRPC status"));
    EXPECT_THAT(call_one_that_says(kSettings + kHeaders + data(grpc::framed("answer")) +
                                   last(header("grpc-message", "0"))),
                IsError(Code::unavailable, "no gRPC status"));
}

TEST(Grpc, AServerThatResetsTheRequestIsUnavailable) {
    const std::string refused_stream = number(7);
    EXPECT_THAT(call_one_that_says(kSettings + frame(Frame::reset, 0, 1, refused_stream)),
                IsError(Code::unavailable, "REFUSED_STREAM"));
    EXPECT_THAT(call_one_that_says(kSettings + frame(Frame::goaway, 0, 0, number(0) + number(0))),
                IsError(Code::unavailable, "REFUSED_STREAM"));
}

TEST(Grpc, AcceptsTheAnswerOfAServerThatShutsDown) {
    const std::string after_this_one = frame(Frame::goaway, 0, 0, number(1) + number(0));
    EXPECT_EQ(answer_or_error(call_one_that_says(kSettings + after_this_one + kHeaders +
                                                 data(grpc::framed("answer")) + kFine)),
              "answer");
}

TEST(Grpc, RefusesBytesThatAreNotHttp2) {
    for (const std::string& bytes :
         {"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"s, std::string(100, '\0'),
          std::string(100000, '\xff'), kHeaders, kSettings + data("early"),
          kSettings + frame(Frame::data, 0, 3, "x"),
          kSettings + frame(Frame::headers, kEndHeaders, 1, "\xff\xff\xff\xff\xff\xff"),
          kSettings + kAcknowledged + frame(Frame::push, kEndHeaders, 1, number(2) + kOk)}) {
        EXPECT_THAT(call_one_that_says(bytes), IsError(Code::unavailable, "not HTTP/2"))
            << printable(bytes.substr(0, 50));
    }
}

TEST(Grpc, AProtocolErrorOfTheStreamEndsTheRequest) {
    for (const std::string& bytes :
         {last(header("Upper-Case", "x")), last(header("grpc-status", "0")), kHeaders + kHeaders}) {
        EXPECT_THAT(call_one_that_says(kSettings + bytes),
                    IsError(Code::unavailable, "PROTOCOL_ERROR"))
            << printable(bytes);
    }
}

TEST(Grpc, AServerThatClosesEarlyIsUnavailable) {
    const std::string whole = answer_of(grpc::framed("answer"));
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const FakeServer server(says_and_leaves(whole.substr(0, size)));
        EXPECT_THAT(call(server), IsError(Code::unavailable, "closed the connection")) << size;
    }
}

TEST(Grpc, LimitsHeaders) {
    const std::string filler = header("x", std::string(100, 'x'));
    std::string interim = header(":status", "103");
    std::string block;
    for (int i = 0; i < 100; ++i) block += filler;
    interim += block;
    EXPECT_THAT(
        call(FakeServer(repeats(kSettings, frame(Frame::headers, kEndHeaders, 1, interim)))),
        IsError(Code::unavailable, "headers: expected at most 65536 bytes"));
    EXPECT_THAT(call(FakeServer(repeats(kSettings + frame(Frame::headers, 0, 1, kOk),
                                        frame(Frame::continuation, 0, 1, block)))),
                IsError(Code::unavailable, "headers: expected at most 65536 bytes"));
}

TEST(Grpc, LimitsFramesBeforeTheAnswer) {
    const std::string begun = kSettings + kHeaders;
    const std::string unknown = frame(Frame{0x77}, 0, 0, std::string(10000, 'x'));
    for (const std::string& more : {unknown, data(std::string(10000, 'x'))}) {
        EXPECT_THAT(call(FakeServer(repeats(begun, more))),
                    IsError(Code::unavailable, "at most 17825792 bytes"));
    }
    const std::string ping = frame(Frame::ping, 0, 0, std::string(8, 'x'));
    EXPECT_THAT(call(FakeServer(repeats(begun, ping))), IsError(Code::unavailable, "Flooding"));
}

TEST(Grpc, NoServerCanExtendTheDeadline) {
    const std::string begun = kSettings + kHeaders;
    for (const auto& script :
         {says(""), says(kSettings), says(begun + data(grpc::framed("answer"))),
          repeats(begun, data(""))}) {
        EXPECT_THAT(call(FakeServer(script), brief()), IsError(Code::timeout, "a.v1.B/C at /"));
    }
}

TEST(Grpc, AFullQueueOfConnectionsDoesNotExtendTheDeadline) {
    const TempDirectory directory;
    const std::string path = directory / "socket";
    const Fd listener = listen_at(path);
    const Fd queued = connect_stream(path, late()).value();  // the queue has space for one
    EXPECT_THAT(grpc::call(path, "a/B", "", brief()), IsError(Code::timeout, "a/B at /"));
}

TEST(Grpc, DistinguishesAnAbsentServerFromOneThatHangs) {
    const TempDirectory directory;
    const std::string path = directory / "containerd.sock";
    EXPECT_THAT(grpc::call(path, "a/B", "", late()),
                IsError(Code::not_found, "no process listens"));
    {
        const Fd listener = listen_at(path);
        EXPECT_THAT(grpc::call(path, "a/B", "", brief()), IsError(Code::timeout, "a/B at"));
    }
    EXPECT_THAT(grpc::call(path, "a/B", "", late()),
                IsError(Code::not_found, "no process listens"));
    EXPECT_THAT(grpc::call(path + std::string(200, 'x'), "a/B", "", late()),
                IsError(Code::invalid, "at most 107 bytes"));
}

}  // namespace
}  // namespace kubexm::executor
