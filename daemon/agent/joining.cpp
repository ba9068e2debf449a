#include "daemon/agent/joining.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

#include "daemon/agent/credentials.hpp"
#include "daemon/base/digest.hpp"
#include "daemon/base/io.hpp"
#include "daemon/base/log.hpp"
#include "daemon/base/try.hpp"
#include "daemon/kube/bootstrap_secret.hpp"
#include "daemon/pki/certificate.hpp"
#include "daemon/plan/join.hpp"

namespace kubexm::agent {

namespace {

/// A descriptor from which the executor reads the bytes: a secret must not be in a file or in a
/// message.
Result<Fd> in_memory(std::string_view bytes) {
    constexpr std::string_view kName = "content of a plan";
    Fd file(::memfd_create("kubexm", MFD_CLOEXEC));
    if (!file) return from_errno("memfd_create", kName);
    TRY(write_all(file.get(), bytes, kName));
    if (::lseek(file.get(), 0, SEEK_SET) != 0) return from_errno("seek", kName);
    return file;
}

std::optional<std::string> if_set(const std::string& text) {
    if (text.empty()) return std::nullopt;
    return text;
}

Error with_advice(const model::Reference& secret, Error error) {
    if (error.code == Code::not_found) {
        error.what += ". The bootstrap provider creates it: check the Machine's bootstrap object";
    }
    if (error.code == Code::denied) {
        error.what +=
            fmt::format(". Allow this host to get secrets in namespace {}", secret.namespace_);
    }
    return error;
}

}  // namespace

std::string provider_id_of(const std::string& host) { return "byoh://" + host; }

Result<std::uint32_t> minor_of(const std::string& version) {
    constexpr std::string_view kMajor = "v1.";
    std::uint32_t minor = 0;
    const char* const first = version.data() + std::min(version.size(), kMajor.size());
    const auto read = std::from_chars(first, version.data() + version.size(), minor);
    if (version.starts_with(kMajor) && read.ec == std::errc()) return minor;
    return fail(
        Code::invalid,
        fmt::format(
            "annotation k8sversion of the ByoHost: expected a version such as v1.34.1, found "
            "\"{:.32}\"; set spec.version of the Machine",
            version));
}

Joining::Joining(AgentContext& context, kube::Api& management, std::string management_ca,
                 model::HostRecord host, std::string owner, Done done)
    : context_(context),
      management_(management),
      management_ca_(std::move(management_ca)),
      host_(std::move(host)),
      secret_(host_.bootstrap_secret.value_or(model::Reference{})),
      owner_(std::move(owner)),
      done_(std::move(done)) {}

void Joining::start() {
    if (!host_.bootstrap_secret) {
        return finish(fail(Code::not_found,
                           "ByoHost names no bootstrap secret: expected one, to request the "
                           "node's certificate"));
    }
    call_ = management_.get(
        kube::secret_path(secret_.namespace_, secret_.name),
        [this](kube::Answer<nlohmann::json> answer) { on_secret(std::move(answer)); });
}

void Joining::on_secret(kube::Answer<nlohmann::json> secret) {
    if (!secret) return finish(std::unexpected(with_advice(secret_, secret.error().error)));
    auto material =
        kube::material_from_secret(*std::move(secret), management_.server(), management_ca_);
    if (!material) {
        return finish(during(fmt::format("secret {}", secret_.name), material.error()));
    }
    auto ca = pki::read_bundle(material->credentials.ca);
    if (!ca) return finish(during(fmt::format("CA in secret {}", secret_.name), ca.error()));
    material->credentials.ca = *std::move(ca);
    for (const std::string& note : material->notes) log::notice(note);
    settings_ = std::move(material->kubelet);
    context_.status.change([&](model::Snapshot& now) {
        if (now.assignment) now.assignment->server = material->credentials.server;
    });
    credential_ = std::make_unique<NodeCredential>(
        context_, owner_, [this](const Result<kube::ClusterCredentials>& credentials) {
            on_credential(credentials);
        });
    credential_->start(std::move(material->credentials));
}

void Joining::on_credential(const Result<kube::ClusterCredentials>& credentials) {
    auto submitted = credentials ? submit_plan(*credentials) : std::unexpected(credentials.error());
    if (!submitted) finish(submitted);
}

Result<> Joining::submit_plan(const kube::ClusterCredentials& credentials) {
    const std::uint32_t minor = TRY(minor_of(host_.version));
    const auto certificate = TRY(pki::read_certificate(credentials.certificate));
    const Secret pair = pair_of(credentials);
    const model::NodeJoin join{.owner = owner_,
                               .node_name = context_.facts.name,
                               .provider_id = provider_id_of(context_.facts.name),
                               .server = credentials.server,
                               .server_name = if_set(credentials.server_name),
                               .minor = minor,
                               .ca_digest = sha256(credentials.ca),
                               .certificate_digest = sha256(pair.reveal()),
                               .certificate_serial = certificate.serial,
                               .kubelet = settings_,
                               .labels = host_.labels,
                               .taints = host_.taints};
    std::vector<Fd> contents;
    for (const std::string_view bytes : {std::string_view(credentials.ca), pair.reveal()}) {
        Fd file = TRY(in_memory(bytes));
        contents.push_back(std::move(file));
    }
    run_ = std::make_unique<PlanRun>(context_, [this](const Result<>& end) { finish(end); });
    run_->apply(plan::make_join(join, new_plan_id("join")),
                {join.ca_digest, join.certificate_digest}, std::move(contents));
    return {};
}

void Joining::finish(Result<> outcome) {
    lifetime_.finish(context_.loop, done_, std::move(outcome));
}

}  // namespace kubexm::agent
