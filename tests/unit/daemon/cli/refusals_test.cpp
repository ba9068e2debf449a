#include <gmock/gmock.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

#include "daemon/cli/client.hpp"
#include "daemon/cli/exit_code.hpp"
#include "tests/unit/daemon/cli/kubexmctl.hpp"
#include "tests/unit/temp_directory.hpp"

namespace kubexm::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(AnotherUser, IsToldToRunAsRoot) {
    if (::getuid() != 0) GTEST_SKIP() << "needs root for setresuid";
    constexpr uid_t kNobody = 65534;
    const TempDirectory directory;  // for its owner only
    Result<Client> refused = fail(Code::internal, "not tried");
    std::thread([&] {
        // Of this thread only: the system call, not the function of the C library.
        ASSERT_EQ(::syscall(SYS_setresuid, kNobody, kNobody, kNobody), 0);
        refused = Client::connect(directory / "s");
    }).join();
    EXPECT_EQ(refused.error().code, Code::denied);
    EXPECT_EQ(refused.error().what,
              (directory / "s") + ": expected root, found user 65534; run kubexmctl as root");
}

TEST(TrustCa, ReadsAPipeButNoDirectory) {
    const TempDirectory directory;
    const std::string command = std::string(KUBEXMCTL) + " --socket " + (directory / "none") +
                                " certs trust-ca /dev/stdin 2>&1";
    EXPECT_EQ(shell("echo x | " + command).code, kUnreachable) << "after it read the file";
    EXPECT_EQ(shell(command + " < " + directory.path()).code, kUsage);
    EXPECT_EQ(kubexmctl("certs trust-ca " + (directory / "none")).code, kUsage);
}

TEST(Help, OfAChoiceNamesItsWordsOnly) {
    for (const char* command : {"status", "plan", "preflight", "preview"}) {
        const auto outcome = kubexmctl(std::string(command) + " --help");
        EXPECT_THAT(outcome.text, AllOf(HasSubstr("-o,--output FORM"), HasSubstr("json"),
                                        Not(HasSubstr("ENUM")), Not(HasSubstr("->"))));
    }
}

TEST(Help, OfAWrongChoiceNamesItsWordsOnly) {
    const auto outcome = kubexmctl("status --output 1");
    EXPECT_EQ(outcome.code, kUsage);
    EXPECT_THAT(outcome.text,
                AllOf(HasSubstr("--output: 1 not in {json,text}"), Not(HasSubstr("->"))));
}

}  // namespace
}  // namespace kubexm::cli
