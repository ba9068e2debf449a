#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/agent/activity.hpp"
#include "daemon/base/secret.hpp"
#include "daemon/kube/api.hpp"
#include "daemon/kube/watch.hpp"
#include "daemon/pki/key.hpp"
#include "daemon/pki/request.hpp"

namespace kubexm::agent {

/// A certificate with its private key.
struct Credential {
    std::string certificate;  // PEM, the leaf first
    Secret key;               // PEM
};

/// Requests a client certificate from an API server and waits until it is approved; a condition
/// shows that. The key is on the disk before the request is sent, and the request's name follows
/// from the key: after a kill the same request is found again. After a request that was rejected
/// the next one waits, see rejected_request.hpp.
class CertificateOrder : public Activity<Credential> {
public:
    struct Spec {
        std::string identity;  // "management", "node"
        std::string key_file;  // in the store, until the certificate is issued
        pki::Subject subject;
        std::string signer;
        std::vector<std::string> usages;
        std::function<std::string(const pki::Key&)> name;
        std::string hint;  // for a person, when the server answers 401
        std::optional<std::chrono::seconds> lifetime;
        std::string used_key;  // of the certificate in use: no request for it again
    };
    CertificateOrder(AgentContext& context, kube::Api& api, Spec spec, Done done);
    ~CertificateOrder() override;
    void start() override;

private:
    void post();
    void await_approval(const nlohmann::json& posted);
    void refuse(const kube::Failure& failure);
    void on_watched(const kube::Answer<void>& answer);
    void on_request(const nlohmann::json& object);
    bool is_ours(const nlohmann::json& object) const;
    void on_squatted();
    void on_issued(const std::string& certificate);
    void on_absent();

    kube::Api& api_;
    Spec spec_;
    std::unique_ptr<pki::Key> key_;  // once it is on the disk
    kube::Api::Handle call_;
    std::unique_ptr<kube::Watch> watch_;
    bool is_posted_again_ = false;
    bool is_squatted_ = false;
};

}  // namespace kubexm::agent
