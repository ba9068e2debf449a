#include <gtest/gtest.h>

#include "daemon/executor/engine/joined_clusters.hpp"
#include "daemon/executor/render/render.hpp"
#include "join_host.hpp"

namespace kubexm::executor {
namespace {

/// A host that was a node, and is none any more.
class NodeOnceMore : public JoinHost {
protected:
    void SetUp() override {
        if (!is_root()) GTEST_SKIP() << "files of root";
        ASSERT_THAT(joined("first", kServer, own_, own_), IsState(PlanState::done));
        ASSERT_THAT(released("left"), IsState(PlanState::undone));
    }
};

TEST_F(NodeOnceMore, AcceptsTheClientsThatItAcceptedBefore) {
    EXPECT_TRUE(join_accepted("p", kServer, own_, own_));
}

TEST_F(NodeOnceMore, AcceptsNoFurtherClients) {
    for (const std::string& server : {own_, own_ + theirs_}) {
        for (const std::string& clients : {own_ + theirs_, theirs_}) {
            EXPECT_THAT(join_accepted("p", kServer, server, clients),
                        IsError(Code::denied, "kubexmctl certs trust-ca FILE"));
        }
    }
    EXPECT_THAT(join_accepted("p", "https://192.0.2.1:6443", own_, own_ + theirs_),
                IsError(Code::denied, "expected a CA of the last join of https://api:6443"))
        << "the same cluster under another address";
}

TEST_F(NodeOnceMore, GetsTheClientsThatRootConfirms) {
    ASSERT_TRUE(engine.confirm_authorities(theirs_, kRootCaller));
    EXPECT_TRUE(join_accepted("p", kServer, own_, own_ + theirs_));
}

/// The executor was killed after the plan's end.
TEST_F(NodeOnceMore, WasRememberedAtTheNextStart) {
    ASSERT_THAT(joined("again", kServer, own_, own_), IsState(PlanState::done));
    std::filesystem::remove(state() + "/joined-clusters");
    ASSERT_TRUE(engine.interrupted());
    EXPECT_EQ(JoinedClusters(state()).all()->size(), 1U);
}

TEST_F(NodeOnceMore, MayJoinAnotherCluster) {
    EXPECT_TRUE(join_accepted("p", "https://other:6443", theirs_, theirs_));
}

/// The new one is no way to slip its CA into the old one.
TEST_F(NodeOnceMore, MayJoinANewClusterAtTheSameAddress) {
    ASSERT_THAT(joined("new", kServer, theirs_, theirs_), IsState(PlanState::done));
    ASSERT_THAT(released("left-new"), IsState(PlanState::undone));
    EXPECT_THAT(join_accepted("p", kServer, own_, own_ + theirs_),
                IsError(Code::denied, "expected a CA of the last join of https://api:6443"));
}

TEST_F(NodeOnceMore, ForgetsNoClusterForAnother) {
    const JoinedClusters known(state());
    for (int i = 1; i < 256; ++i) {
        ASSERT_THAT(known.add({kServer, {fmt::format("s-{}", i)}, {"c"}}), IsOk());
    }
    EXPECT_THAT(join_accepted("p", "https://one-more:6443", theirs_, theirs_),
                IsError(Code::exhausted, "remove the lines of clusters"));
    EXPECT_TRUE(join_accepted("q", kServer, own_, own_));
}

/// A node whose journal root has discarded.
class NodeWithoutJournal : public JoinHost {
protected:
    NodeWithoutJournal() {
        write(model::KubeletService{.node_name = "n1", .provider_id = "byoh://n1"});
        write(model::Kubeconfig{.server = kServer, .server_name = "api.example"});
        put(scratch_.at(model::kClusterCa), own_);
        put(scratch_.at(model::kClientCa), own_);
    }
    void write(const model::Document& document) {
        const auto rendered = render(document);
        ASSERT_TRUE(rendered);
        const std::filesystem::path file = scratch_.at(rendered->path);
        std::filesystem::create_directories(file.parent_path());
        put(file, rendered->content);
    }
    Result<PlanRecord> bundle_accepted(const char* path, const std::string& content) {
        return accepted({"p", "machine-1", {}}, {{path, content}});
    }
};

TEST_F(NodeWithoutJournal, KeepsItsClients) {
    EXPECT_THAT(bundle_accepted(model::kClientCa, own_ + theirs_),
                IsError(Code::denied, "signed by one that this node trusts"));
    EXPECT_TRUE(bundle_accepted(model::kClientCa, own_));
}

TEST_F(NodeWithoutJournal, KeepsItsClientsWithoutItsFiles) {
    std::filesystem::remove_all(scratch_.at("/etc/kubernetes"));
    EXPECT_THAT(bundle_accepted(model::kClientCa, theirs_),
                IsError(Code::denied, "signed by one that this node trusts"));
}

TEST_F(NodeWithoutJournal, KeepsItsServer) {
    EXPECT_THAT(bundle_accepted(model::kClusterCa, theirs_),
                IsError(Code::denied, "not in place of all"));
    EXPECT_THAT(join_accepted("p", "https://other:6443", own_, own_),
                IsError(Code::denied, "the journal does not know this node any more"));
    EXPECT_THAT(join_accepted("p", kServer, own_, own_),
                IsError(Code::denied, "expected https://api:6443 with the name api.example"));
}

TEST_F(NodeWithoutJournal, IsNoneWhereSomebodyElseWroteItsUnit) {
    put(scratch_.at("/etc/systemd/system/kubelet.service"), "[Service]\n");
    EXPECT_TRUE(bundle_accepted(model::kClientCa, theirs_)) << "the preflight refuses it";
}

}  // namespace
}  // namespace kubexm::executor
