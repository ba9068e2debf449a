#include <gmock/gmock.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "daemon/cli/exit_code.hpp"
#include "tests/unit/api/http/served.hpp"
#include "tests/unit/daemon/cli/kubexmctl.hpp"

namespace kubexm::cli {
namespace {

using testing::HasSubstr;

/// kubexmctl and the real server.
class Operations : public http::Served {
protected:
    void SetUp() override {
        if (::getuid() != 0) GTEST_SKIP() << "operations are for root";
        place();  // started by one thread
    }
    static Outcome run(const std::string& words) {
        return kubexmctl("--control-socket " + place().control() + " " + words);
    }
};

TEST_F(Operations, PrintTheAnswerOfTheAgent) {
    const auto accepted = run("leave --no-wait");
    EXPECT_EQ(accepted.code, kDone);
    EXPECT_EQ(accepted.text, "This host leaves.\n");
    const auto refused = run("adopt");
    EXPECT_EQ(refused.code, kRefused);
    EXPECT_EQ(refused.text, "kubexmctl: adopt: not held\n");
    const auto later = run("resume");
    EXPECT_EQ(later.code, kUnreachable);
    EXPECT_EQ(later.text, "kubexmctl: resume: later\n");
}

TEST_F(Operations, PassTheDuration) {
    Outcome outcome;
    std::thread person([&] { outcome = run("pause --for 2h"); });
    auto asked = place().agent.next();
    EXPECT_EQ(asked.command.verb, model::Verb::pause);
    EXPECT_EQ(asked.command.duration, std::chrono::hours(2));
    asked.decide("Paused.");
    person.join();
    EXPECT_EQ(outcome.code, kDone);
    EXPECT_EQ(outcome.text, "Paused.\n");
}

TEST_F(Operations, WithNothingToDoAreASuccess) {
    Outcome outcome;
    std::thread person([&] { outcome = run("repair"); });
    place().agent.next().decide(fail(Code::not_found, "nothing to do"));
    person.join();
    EXPECT_EQ(outcome.code, kDone);
    EXPECT_EQ(outcome.text, "nothing to do\n");
}

TEST_F(Operations, AreRefusedWithAWrongDuration) {
    for (const char* words : {"pause --for 2", "pause --for 31d", "pause --for ''",
                              "leave --for 2h", "pause 2h", "dance", ""}) {
        EXPECT_EQ(run(words).code, kUsage) << words;
    }
    EXPECT_THAT(run("pause --for 2w").text, HasSubstr("expected 90s, 30m, 2h or 1d"));
}

TEST_F(Operations, ShowTheReleaseUntilCtrlC) {
    // The status of the tests is always "joining": the release does not end.
    const std::string leave =
        std::string("exec ") + KUBEXMCTL + " --control-socket " + place().control() + " leave";
    const auto outcome = shell("(sh -c 'echo $$; " + leave + "'; echo code $?) | " +
                               "{ read pid; read text; kill -INT $pid; echo \"$text\"; cat; }");
    EXPECT_EQ(outcome.text,
              "This host leaves.\nkubexmd goes on with the release; see kubexmctl status.\n"
              "code 130\n");
}

TEST(OperationsWithoutKubexmd, NameTheCommandToStartIt) {
    const TempDirectory directory;
    const std::string sockets =
        "--control-socket " + (directory / "c") + " --socket " + (directory / "e") + " ";
    for (const char* verb : {"pause", "resume", "adopt", "repair"}) {
        const auto outcome = kubexmctl(sockets + verb);
        EXPECT_EQ(outcome.code, kUnreachable);
        EXPECT_THAT(outcome.text, HasSubstr("systemctl restart kubexmd\n"));
    }
}

TEST(Help, OfEveryCommandListsTheExitCodes) {
    for (const char* words : {"--help", "status --help", "pause --help", "leave --help",
                              "journal show --help", "preview --help"}) {
        const auto outcome = kubexmctl(words);
        EXPECT_EQ(outcome.code, kDone);
        EXPECT_THAT(outcome.text, HasSubstr("Exit codes:\n  0    done")) << words;
    }
}

TEST(WrongInput, IsAnErrorOfUsage) {
    const TempDirectory directory;
    directory.write("plan.json", "{}");
    EXPECT_EQ(kubexmctl("preview " + (directory / "plan.json")).code, kUsage);
    EXPECT_EQ(kubexmctl("apply " + (directory / "none.json")).code, kUsage);
    EXPECT_EQ(kubexmctl("--socket " + (directory / "none") + " history").code, kUnreachable);
}

}  // namespace
}  // namespace kubexm::cli
