#include "daemon/agent/credentials.hpp"

#include "daemon/agent/conditions.hpp"
#include "daemon/base/try.hpp"
#include "daemon/pki/certificate.hpp"
#include "daemon/pki/chain.hpp"
#include "daemon/pki/renewal.hpp"

namespace kubexm::agent {

Result<std::optional<kube::ClusterCredentials>> load_credentials(const CredentialStore& store,
                                                                 const std::string& name) {
    const std::optional<Secret> text = TRY(store.read(name));
    if (!text) return std::nullopt;
    kube::ClusterCredentials credentials = TRY(kube::credentials_from_kubeconfig(text->reveal()));
    auto certificate = pki::read_certificate(credentials.certificate);
    if (!certificate) return during(name, certificate.error());
    return credentials;
}

Result<kube::ClusterCredentials> store_credentials(const CredentialStore& store,
                                                   const std::string& name,
                                                   const kube::ClusterCredentials& bootstrap,
                                                   Credential credential) {
    kube::ClusterCredentials credentials{.server = bootstrap.server,
                                         .server_name = bootstrap.server_name,
                                         .ca = bootstrap.ca,
                                         .token = Secret(),
                                         .certificate = std::move(credential.certificate),
                                         .key = std::move(credential.key)};
    TRY(store.write(name, kube::kubeconfig_of(credentials)));
    return credentials;
}

bool is_same_cluster(const kube::ClusterCredentials& a, const kube::ClusterCredentials& b) {
    return a.server == b.server && a.server_name == b.server_name && a.ca == b.ca;
}

kube::ClusterCredentials copy_of(const kube::ClusterCredentials& credentials) {
    return {.server = credentials.server,
            .server_name = credentials.server_name,
            .ca = credentials.ca,
            .token = Secret(std::string(credentials.token.reveal())),
            .certificate = credentials.certificate,
            .key = Secret(std::string(credentials.key.reveal()))};
}

std::string public_key_of(const kube::ClusterCredentials& credentials) {
    const auto certificate = pki::read_certificate(credentials.certificate);
    return certificate ? certificate->public_key : "";
}

model::CertificateView view_of(const std::string& name, const kube::ClusterCredentials& credentials,
                               const model::HostFacts& host) {
    model::CertificateView view;
    view.name = name;
    auto read = pki::read_certificate(credentials.certificate);
    if (!read) return view;
    view.subject = read->text;
    view.serial = read->serial;
    view.not_before = rfc3339(read->not_before);
    view.not_after = rfc3339(read->not_after);
    for (const auto& issuer : pki::issuers_of(credentials.certificate, credentials.ca)) {
        view.issuers.push_back({issuer.text, rfc3339(issuer.not_after)});
    }
    view.next_at = rfc3339(pki::renewal_time(*read, host.machine_id));
    return view;
}

Secret pair_of(const std::string& certificate, const Secret& key) {
    std::string both = certificate;
    if (!both.ends_with('\n')) both += '\n';
    both.reserve(both.size() + key.reveal().size());
    both += key.reveal();
    return Secret(std::move(both));
}

}  // namespace kubexm::agent
