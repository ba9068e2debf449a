#include "daemon/agent/reporter.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "daemon/agent/conditions.hpp"
#include "tests/unit/daemon/loop/running_loop.hpp"

namespace kubexm::agent {
namespace {

using nlohmann::json;

/// Records patches; the test answers them.
class PatchedApi : public kube::Api {
public:
    const std::string& server() const override { return server_; }
    Handle get(std::string, Callback) override { return nullptr; }
    Handle post(std::string, const json&, Callback) override { return nullptr; }
    Handle remove(std::string, const json&, Callback) override { return nullptr; }
    Handle stream(std::string, std::chrono::seconds, LineCallback, EndCallback) override {
        return nullptr;
    }
    Handle merge_patch(std::string, const json& patch, Callback callback) override {
        patches.push_back(patch);
        callbacks.push_back(std::move(callback));
        return nullptr;
    }
    void refuse_last() {
        auto callback = std::move(callbacks.back());
        callback(std::unexpected(kube::Failure{.error = {Code::conflict, "409"}}));
    }

    void accept_last(const json& object) {
        auto callback = std::move(callbacks.back());
        callback(object);
    }

    std::vector<json> patches;
    std::vector<Callback> callbacks;

private:
    std::string server_ = "https://api";
};

class ReporterTest : public testing::Test {
protected:
    static model::HostRecord version(const std::string& number) {
        model::HostRecord host;
        host.resource_version = number;
        return host;
    }

    Loop loop_ = make_loop();
    ExecutorClient executor_{loop_, "/nowhere", "test", [](const Result<>&) {}};
    CredentialStore store_ = *CredentialStore::open("/tmp");
    StatusStore status_{{}, [](const model::Snapshot&) {}};
    AgentContext context_{loop_, executor_, executor_, store_, status_, {}, "default"};
    PatchedApi api_;
    Reporter reporter_{context_};
};

TEST_F(ReporterTest, AConflictIsWrittenAgainWithTheNextVersion) {
    reporter_.on_host(api_, version("1"));
    reporter_.set(is_true(kInstalled, "kubelet"));
    api_.refuse_last();
    EXPECT_EQ(api_.patches.size(), 1U);
    reporter_.on_host(api_, version("2"));
    ASSERT_EQ(api_.patches.size(), 2U);
    EXPECT_EQ(api_.patches.back()["metadata"]["resourceVersion"], "2");
}

TEST_F(ReporterTest, TheNextVersionMayArriveBeforeTheConflict) {
    reporter_.on_host(api_, version("1"));
    reporter_.set(is_true(kInstalled, "kubelet"));
    reporter_.on_host(api_, version("2"));
    EXPECT_EQ(api_.patches.size(), 1U);
    api_.refuse_last();
    ASSERT_EQ(api_.patches.size(), 2U);
    EXPECT_EQ(api_.patches.back()["metadata"]["resourceVersion"], "2");
}

TEST_F(ReporterTest, OnlyAConditionThatWasNotTrueIsResolved) {
    reporter_.on_host(api_, version("1"));
    reporter_.resolve(kAssignmentApplied);
    EXPECT_TRUE(api_.patches.empty());
    model::HostRecord held = version("2");
    held.conditions = {is_false(kAssignmentApplied, "Warning", "Earlier", "by another process")};
    reporter_.on_host(api_, held);
    reporter_.resolve(kAssignmentApplied);
    ASSERT_EQ(api_.patches.size(), 1U);
    EXPECT_EQ(api_.patches.back()["status"]["conditions"][0]["status"], "True");
}

TEST_F(ReporterTest, AConditionThatTheServerDropsIsNotWrittenForEver) {
    reporter_.on_host(api_, version("1"));
    reporter_.set(is_true(kInstalled, "kubelet"));
    api_.accept_last({{"metadata", {{"resourceVersion", "2"}}}, {"status", json::object()}});
    EXPECT_EQ(api_.patches.size(), 1U);
}

TEST_F(ReporterTest, AConditionSetDuringAWriteIsWrittenAfterIt) {
    reporter_.on_host(api_, version("1"));
    reporter_.set(is_true(kInstalled, "kubelet"));
    reporter_.set(is_true(kBootstrapped, "Ready"));
    EXPECT_EQ(api_.patches.size(), 1U);
    api_.accept_last({{"metadata", {{"resourceVersion", "2"}}}});
    ASSERT_EQ(api_.patches.size(), 2U);
    EXPECT_EQ(api_.patches.back()["status"]["conditions"].size(), 2U);
}

TEST_F(ReporterTest, WithoutAnApiItWaitsForTheNextOne) {
    reporter_.on_host(api_, version("1"));
    reporter_.forget_host();
    reporter_.set(is_true(kInstalled, "kubelet"));
    EXPECT_TRUE(api_.patches.empty());
    PatchedApi next;
    reporter_.on_host(next, version("2"));
    EXPECT_EQ(next.patches.size(), 1U);
}

}  // namespace
}  // namespace kubexm::agent
