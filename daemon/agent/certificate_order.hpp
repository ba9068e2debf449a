#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "daemon/agent/alive.hpp"
#include "daemon/agent/store.hpp"
#include "daemon/base/secret.hpp"
#include "daemon/kube/api.hpp"
#include "daemon/kube/watch.hpp"
#include "daemon/pki/key.hpp"
#include "daemon/pki/request.hpp"

namespace kubexm::agent {

/// A certificate with the key that it is for.
struct Credential {
    std::string certificate;  // PEM, the leaf first
    Secret key;               // PEM
};

/// Asks an API server for a client certificate and waits until somebody approves it. The key is on
/// the disk before the request is sent, and the request's name follows from the key: whoever is
/// killed and asks again finds the same request.
class CertificateOrder {
public:
    struct Wish {
        std::string pending;  // the file of the store that keeps the key until it is issued
        pki::Subject subject;
        std::string signer;
        std::vector<std::string> usages;
        std::function<std::string(const pki::Key&)> name;
    };
    using Done = std::move_only_function<void(Result<Credential>)>;

    CertificateOrder(Loop& loop, kube::Api& api, const Store& store, Wish wish, Done done);
    void start();

private:
    Result<> take_key();
    void post();
    void await();
    void on_request(const nlohmann::json& object);
    void on_issued(const std::string& certificate);
    void finish(Result<Credential> outcome);

    Loop& loop_;
    kube::Api& api_;
    const Store& store_;
    Wish wish_;
    Done done_;
    std::unique_ptr<pki::Key> key_;  // once it is on the disk
    kube::Api::Handle call_;
    std::unique_ptr<kube::Watch> watch_;
    bool seen_ = false;
    Alive alive_;
};

}  // namespace kubexm::agent
