#pragma once

#include <fcntl.h>

#include "daemon/base/digest.hpp"
#include "engine_host.hpp"
#include "tests/unit/test_authority.hpp"

namespace kubexm::executor {

/// A host that kubexmd joins to a cluster.
class JoinHost : public EngineHost {
protected:
    JoinHost() {
        engine.allow(allowed({"*"}));
        std::filesystem::create_directories(scratch_.at("/etc/kubernetes/pki"));
        std::filesystem::create_directories(scratch_.at(model::kRegistryCas));
    }
    static model::AllowList allowed(const std::vector<std::string>& clusters) {
        return {.clusters = clusters,
                .directories = {{"data-file", {"/etc/kubernetes/pki", model::kRegistryCas}}}};
    }
    static model::AllowList pinned() {
        return allowed({"api:6443 sha256:" + std::string(64, '0')});
    }

    Result<PlanRecord> accepted(model::Plan plan, const std::map<std::string, std::string>& files) {
        std::vector<Content> contents;
        std::set<std::string> sent;
        for (const auto& [path, pem] : files) {
            const std::string digest = sha256(pem);
            plan.steps.emplace_back(model::DataFile{path, model::DataKind::ca_bundle, digest, {}});
            if (!sent.insert(digest).second) continue;
            const std::string source = scratch_.top() / digest;
            put(source, pem);
            contents.push_back({digest, Fd{::open(source.c_str(), O_RDONLY | O_CLOEXEC)}});
        }
        return engine.accept(plan, contents, kAgentCaller);
    }
    /// The files that say to which cluster kubelet belongs.
    Result<PlanRecord> join_accepted(const std::string& id, const std::string& server,
                                     const std::string& server_ca, const std::string& client_ca) {
        const model::RenderedFile kubeconfig{model::Kubeconfig{.server = server}};
        return accepted({id, "machine-1", {kubeconfig}},
                        {{model::kClusterCa, server_ca}, {model::kClientCa, client_ca}});
    }
    Result<PlanState> joined(const std::string& id, const std::string& server,
                             const std::string& server_ca, const std::string& client_ca) {
        const auto record = join_accepted(id, server, server_ca, client_ca);
        if (!record) return std::unexpected(record.error());
        return carried_out(*record);
    }
    Result<PlanState> released(const std::string& id) {
        const auto record = engine.accept_undo(id, "machine-1", kAgentCaller);
        if (!record) return std::unexpected(record.error());
        return carried_out(*record);
    }

    static constexpr const char* kServer = "https://api:6443";
    const std::string own_ = TestAuthority("own").certificate();
    const std::string theirs_ = TestAuthority("theirs").certificate();
};

}  // namespace kubexm::executor
