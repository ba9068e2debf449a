#include <fmt/format.h>
#include <gmock/gmock.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <array>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "api/http/listeners.hpp"
#include "tests/unit/api/golden.hpp"
#include "tests/unit/api/http/served.hpp"

namespace kubexm::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

struct Outcome {
    std::string text;  // standard output and error
    int code = -1;
};

Outcome kubexmctl(const std::string& socket, const std::string& words) {
    const std::string command = fmt::format("{} --api-socket {} {} 2>&1", KUBEXMCTL, socket, words);
    Outcome outcome;
    FILE* output = ::popen(command.c_str(), "r");
    for (int c = ::fgetc(output); c != EOF; c = ::fgetc(output)) {
        outcome.text += static_cast<char>(c);
    }
    const int status = ::pclose(output);
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return outcome;
}

/// kubexmctl and the real server.
class Status : public http::Served {
protected:
    static Outcome run(const std::string& words) { return kubexmctl(place().socket(), words); }
};

TEST_F(Status, IsPrintedAsText) {
    const auto outcome = run("status");
    EXPECT_EQ(outcome.code, 0);
    EXPECT_THAT(outcome.text, HasSubstr("phase        joining\n"));
}

TEST_F(Status, AsJsonHasTheBytesOfTheApi) {
    EXPECT_EQ(run("status --output json").text, api::golden("status-joining.json"));
    EXPECT_EQ(run("plan --output json").text, api::golden("plan.json"));
}

TEST_F(Status, OfThePlanListsTheSteps) {
    const auto outcome = run("plan");
    EXPECT_EQ(outcome.code, 0);
    EXPECT_THAT(outcome.text, StartsWith("plan p-1: running\ndone     set "));
}

TEST_F(Status, AnUnknownOutputIsRefused) { EXPECT_NE(run("status --output diff").code, 0); }

TEST_F(Status, WithoutKubexmdNamesTheCommandToStartIt) {
    const TempDirectory directory;
    const auto outcome = kubexmctl(directory / "none.sock", "status");
    EXPECT_EQ(outcome.code, 1);
    EXPECT_THAT(outcome.text, HasSubstr("systemctl start kubexmd\n"));
}

/// A process in the place of kubexmd that answers with the given bytes.
Outcome ask_impostor(const std::string& answer) {
    const TempDirectory directory;
    auto listener = http::listen_unix(directory / "s");
    if (!listener) throw std::runtime_error(listener.error().what);
    std::thread impostor([&] {
        pollfd ready{.fd = listener->get(), .events = POLLIN, .revents = 0};
        ::poll(&ready, 1, -1);
        const Fd client{::accept(listener->get(), nullptr, nullptr)};
        std::array<char, 4096> request{};
        ::recv(client.get(), request.data(), request.size(), 0);
        for (std::string_view rest = answer; !rest.empty();) {
            const auto sent = ::send(client.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
            if (sent <= 0) break;
            rest.remove_prefix(static_cast<std::size_t>(sent));
        }
    });
    auto outcome = kubexmctl(directory / "s", "plan");
    impostor.join();
    return outcome;
}

TEST(StatusOfAnImpostor, IsRefusedWithAReason) {
    const std::string head = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n";
    const std::vector<std::pair<std::string, std::string>> cases{
        {"garbage", "Unsupported protocol"},
        {head + "no JSON", "not JSON"},
        {head + std::string(3'000'000, ' '), "no valid answer"},
        {head + std::string(1000, '['), "nested deeper"},
        {"HTTP/1.1 500 X\r\n\r\n{}", "gave no reason"}};
    for (const auto& [answer, reason] : cases) {
        const auto outcome = ask_impostor(answer);
        EXPECT_EQ(outcome.code, 1) << reason;
        EXPECT_THAT(outcome.text, AllOf(StartsWith("kubexmctl: "), HasSubstr(reason)));
    }
}

TEST(StatusOfAnImpostor, HasItsControlCharactersEscaped) {
    const auto refused =
        ask_impostor("HTTP/1.1 404 X\r\nConnection: close\r\n\r\n{\"detail\": \"\\u001b[2Jgone\"}");
    EXPECT_EQ(refused.code, 1);
    EXPECT_EQ(refused.text, "kubexmctl: \\x1b[2Jgone\n");
}

}  // namespace
}  // namespace kubexm::cli
