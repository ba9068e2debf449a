#include "daemon/agent/host_identity.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/simulated_executor.hpp"
#include "tests/unit/daemon/loop/running_loop.hpp"
#include "tests/unit/temp_directory.hpp"

namespace kubexm::agent {
namespace {

using testing::HasSubstr;

class HostIdentityTest : public testing::Test {
protected:
    /// The error of a start without a stored certificate.
    Error start_with(const std::string& bootstrap_kubeconfig, const std::string& host = "h1") {
        Error error;
        state_.change([&](AgentState& state) { state.facts.name = host; });
        HostIdentity identity(context_, {bootstrap_kubeconfig},
                              {.on_credentials = [](const kube::ClusterCredentials&) {},
                               .on_renewed = [](const kube::ClusterCredentials&) {},
                               .clock_offset = [] { return std::optional<std::chrono::seconds>(); },
                               .on_error = [&](const Error& why) { error = why; }});
        identity.start();
        return error;
    }

    TempDirectory directory_;
    Loop loop_ = make_loop();
    SimulatedExecutor executor_{loop_};
    CredentialStore store_ = *CredentialStore::open(directory_.path());
    StateStore state_{
        {}, [] { return std::chrono::system_clock::now(); }, [](const model::Snapshot&) {}};
    AgentContext context_{
        loop_,
        executor_,
        store_,
        state_,
        [](const kube::ClusterCredentials&) -> Result<std::unique_ptr<kube::Api>> {
            return fail(Code::unavailable, "no server");
        },
        look_up,
        [] { return 0.5; },
        "default",
        std::chrono::minutes(2)};
};

TEST_F(HostIdentityTest, WithoutABootstrapKubeconfigNamesItsPath) {
    directory_.write("none", "none");  // as kubexmd.service sets it
    for (const std::string& path : {std::string(), directory_ / "absent", directory_ / "none"}) {
        const Error error = start_with(path);
        EXPECT_EQ(error.code, Code::not_found) << path;
        EXPECT_THAT(error.what, HasSubstr("/etc/kubexm/bootstrap-kubeconfig"));
    }
}

TEST_F(HostIdentityTest, AHostWithoutANameOfItsOwnDoesNotEnrol) {
    for (const std::string name : {"localhost", "localhost.localdomain"}) {
        const Error error = start_with(directory_ / "absent", name);
        EXPECT_EQ(error.code, Code::invalid);
        EXPECT_THAT(error.what, HasSubstr("host name \"" + name + "\": expected a name"));
    }
}

TEST_F(HostIdentityTest, AnUnreadableBootstrapKubeconfigIsNotReportedAsAbsent) {
    const Error error = start_with(directory_.path());
    EXPECT_NE(error.code, Code::not_found);
    EXPECT_THAT(error.what, HasSubstr(directory_.path()));
}

TEST_F(HostIdentityTest, AnInvalidBootstrapKubeconfigIsReported) {
    directory_.write("kubeconfig", "{{{");
    EXPECT_THAT(start_with(directory_ / "kubeconfig").what, HasSubstr("bootstrap kubeconfig: "));
}

}  // namespace
}  // namespace kubexm::agent
