#include "daemon/agent/credentials.hpp"

#include <fmt/format.h>

#include "daemon/agent/conditions.hpp"
#include "daemon/pki/certificate.hpp"

namespace kubexm::agent {

namespace {

kube::ClusterCredentials with(const kube::ClusterCredentials& where, Credential credential) {
    return {.server = where.server,
            .server_name = where.server_name,
            .ca = where.ca,
            .token = Secret(),
            .certificate = std::move(credential.certificate),
            .key = std::move(credential.key)};
}

}  // namespace

Result<std::optional<kube::ClusterCredentials>> load_credentials(const CredentialStore& store,
                                                                 const std::string& name,
                                                                 std::chrono::sys_seconds now) {
    auto kept = store.read(name);
    if (!kept) return std::unexpected(kept.error());
    const std::optional<Secret>& text = *kept;
    if (!text) return std::nullopt;
    auto access = kube::access_from_kubeconfig(text->reveal());
    if (!access) return std::unexpected(access.error());
    auto certificate = pki::read_certificate(access->certificate);
    if (!certificate) return during(name, certificate.error());
    if (certificate->not_after <= now) {
        return fail(Code::denied, fmt::format("the certificate in {} expired at {}", name,
                                              rfc3339(certificate->not_after)));
    }
    return *std::move(access);
}

Result<kube::ClusterCredentials> store_credentials(const CredentialStore& store,
                                                   const std::string& name,
                                                   const kube::ClusterCredentials& where,
                                                   Credential credential) {
    kube::ClusterCredentials access = with(where, std::move(credential));
    if (auto kept = store.write(name, kube::kubeconfig_of(access)); !kept) {
        return std::unexpected(kept.error());
    }
    return access;
}

kube::ClusterCredentials copy_of(const kube::ClusterCredentials& access) {
    return {.server = access.server,
            .server_name = access.server_name,
            .ca = access.ca,
            .token = Secret(std::string(access.token.reveal())),
            .certificate = access.certificate,
            .key = Secret(std::string(access.key.reveal()))};
}

model::CertificateView view_of(const std::string& name, const kube::ClusterCredentials& access) {
    auto read = pki::read_certificate(access.certificate);
    if (!read) {
        return {.name = name, .subject = "", .serial = "", .not_before = "", .not_after = ""};
    }
    return {.name = name,
            .subject = read->text,
            .serial = read->serial,
            .not_before = rfc3339(read->not_before),
            .not_after = rfc3339(read->not_after)};
}

Secret pair_of(const kube::ClusterCredentials& access) {
    std::string both = access.certificate;
    if (!both.ends_with('\n')) both += '\n';
    both.reserve(both.size() + access.key.reveal().size());
    both += access.key.reveal();
    return Secret(std::move(both));
}

}  // namespace kubexm::agent
