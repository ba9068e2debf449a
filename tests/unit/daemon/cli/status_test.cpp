#include <gmock/gmock.h>
#include <sys/socket.h>

#include <array>
#include <string>
#include <thread>
#include <vector>

#include "daemon/cli/exit_code.hpp"
#include "tests/unit/api/golden.hpp"
#include "tests/unit/api/http/served.hpp"
#include "tests/unit/daemon/cli/kubexmctl.hpp"

namespace kubexm::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

/// kubexmctl and the real server.
class Status : public http::Served {
protected:
    static Outcome run(const std::string& words) {
        return kubexmctl("--api-socket " + place().socket() + " " + words);
    }
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

TEST_F(Status, AnUnknownOutputIsRefused) { EXPECT_EQ(run("status --output diff").code, kUsage); }

TEST_F(Status, WithoutKubexmdNamesTheCommandToStartIt) {
    const TempDirectory directory;
    const auto outcome = kubexmctl("--api-socket " + (directory / "none.sock") + " status");
    EXPECT_EQ(outcome.code, kUnreachable);
    EXPECT_THAT(outcome.text, HasSubstr("systemctl restart kubexmd\n"));
}

/// A process in the place of kubexmd that answers with the given bytes.
Outcome ask_impostor(const std::string& answer) {
    const TempDirectory directory;
    const Fd listener = http::listening(directory / "s");
    std::thread impostor([&] {
        pollfd ready{.fd = listener.get(), .events = POLLIN, .revents = 0};
        ::poll(&ready, 1, -1);
        const Fd client{::accept(listener.get(), nullptr, nullptr)};
        std::array<char, 4096> request{};
        ::recv(client.get(), request.data(), request.size(), 0);
        for (std::string_view rest = answer; !rest.empty();) {
            const auto sent = ::send(client.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
            if (sent <= 0) break;
            rest.remove_prefix(static_cast<std::size_t>(sent));
        }
    });
    auto outcome = kubexmctl("--api-socket " + (directory / "s") + " plan");
    impostor.join();
    return outcome;
}

TEST(StatusOfAnImpostor, IsRefusedWithAReason) {
    const std::string head = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n";
    struct Case {
        std::string answer;
        std::string reason;
        int code;
    };
    const std::vector<Case> cases{
        {"garbage", "Unsupported protocol", kUnreachable},
        {head + "no JSON", "not JSON", kUnreachable},
        {head + std::string(3'000'000, ' '), "no valid answer", kUnreachable},
        {head + std::string(1000, '['), "nested deeper", kUnreachable},
        {"HTTP/1.1 500 X\r\n\r\n{}", "gave no reason", kFailed}};
    for (const auto& [answer, reason, code] : cases) {
        const auto outcome = ask_impostor(answer);
        EXPECT_EQ(outcome.code, code) << reason;
        EXPECT_THAT(outcome.text, AllOf(StartsWith("kubexmctl: "), HasSubstr(reason)));
    }
}

TEST(StatusOfAnImpostor, HasItsControlCharactersEscaped) {
    const auto refused =
        ask_impostor("HTTP/1.1 404 X\r\nConnection: close\r\n\r\n{\"detail\": \"\\u001b[2Jgone\"}");
    EXPECT_EQ(refused.code, kRefused);
    EXPECT_EQ(refused.text, "kubexmctl: \\x1b[2Jgone\n");
}

}  // namespace
}  // namespace kubexm::cli
