#pragma once

#include <functional>
#include <memory>
#include <string>

#include "daemon/agent/certificate_renewal.hpp"
#include "daemon/agent/context.hpp"
#include "daemon/base/backoff.hpp"
#include "daemon/pki/certificate.hpp"

namespace kubexm::agent {

/// Renews the certificate of one identity at its time, for ever. A renewal that fails changes
/// nothing; it is tried again, and AgentState::renewals says why.
class CertificateKeeper {
public:
    struct Identity {
        std::string name;  // "management", "node"
        CertificateRenewal::Order order;
        /// The server's clock minus this host's; none: not known.
        std::function<std::optional<std::chrono::seconds>()> clock_offset;
        /// Stores the tested credentials and uses them from now on.
        std::function<Result<>(const kube::ClusterCredentials&)> use;
    };
    CertificateKeeper(AgentContext& context, Identity identity, kube::ClusterCredentials present);
    ~CertificateKeeper();
    CertificateKeeper(const CertificateKeeper&) = delete;
    CertificateKeeper& operator=(const CertificateKeeper&) = delete;

    /// Waits for the time of the renewal.
    void start();
    /// After a change of the AgentState.
    void update();
    /// The person who asked for the renewal that is under way; none: it is its time.
    std::optional<std::uint32_t> asked_by() const { return asked_by_; }

private:
    AskedRenewal asked() const;
    std::chrono::sys_seconds server_time() const;
    std::chrono::seconds until_renewal() const;
    void wait();
    void try_in(std::chrono::milliseconds time);
    void on_time();
    void renew();
    void await_renewal();
    void report_waiting();
    void on_renewed(Result<kube::ClusterCredentials> credentials);
    void retry_later(const Error& why);
    void report(const Error& problem, std::optional<std::chrono::sys_seconds> next_try);
    void report_none();

    AgentContext& context_;
    Identity identity_;
    kube::ClusterCredentials present_;
    std::unique_ptr<CertificateRenewal> renewal_;
    std::uint32_t asked_;  // how often a person had asked for it, of what was seen
    std::optional<std::uint32_t> asked_by_;
    Loop::Handle timer_;
    Backoff backoff_;
};

}  // namespace kubexm::agent
