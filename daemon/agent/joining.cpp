#include "daemon/agent/joining.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

#include "daemon/agent/credentials.hpp"
#include "daemon/base/digest.hpp"
#include "daemon/base/log.hpp"
#include "daemon/kube/bootstrap_secret.hpp"
#include "daemon/pki/certificate.hpp"
#include "daemon/plan/join.hpp"

namespace kubexm::agent {

namespace {

/// Bytes on their way to the executor, which read them from a descriptor: in no file, in no
/// message.
Result<Fd> in_memory(std::string_view bytes) {
    Fd file(::memfd_create("kubexm", MFD_CLOEXEC));
    if (!file) return from_errno("memfd_create", "content of a plan");
    while (!bytes.empty()) {
        const ssize_t written = ::write(file.get(), bytes.data(), bytes.size());
        if (written < 0) return from_errno("write", "content of a plan");
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    if (::lseek(file.get(), 0, SEEK_SET) != 0) return from_errno("seek", "content of a plan");
    return file;
}

std::optional<std::string> name_of_certificate(const kube::ClusterCredentials& access) {
    if (access.server_name.empty()) return std::nullopt;
    return access.server_name;
}

/// What the host cannot mend itself, with whom to ask.
Error about(const model::Reference& secret, Error error) {
    if (error.code == Code::not_found) {
        error.what += ". The bootstrap provider makes it: look at the Machine's bootstrap object";
    }
    if (error.code == Code::denied) {
        error.what += fmt::format(". Somebody has to allow this host to get secrets in {}",
                                  secret.namespace_);
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
        fmt::format("the ByoHost's annotation k8sversion is \"{:.32}\"; expected a version such "
                    "as v1.34.1: set spec.version of the Machine",
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
                           "the ByoHost names no bootstrap secret any more, with which the node's "
                           "certificate could be asked for"));
    }
    call_ = management_.get(
        kube::secret_path(secret_.namespace_, secret_.name),
        [this](kube::Answer<nlohmann::json> answer) { on_secret(std::move(answer)); });
}

void Joining::on_secret(kube::Answer<nlohmann::json> secret) {
    if (!secret) return finish(std::unexpected(about(secret_, secret.error().error)));
    auto material =
        kube::material_from_secret(*std::move(secret), management_.server(), management_ca_);
    if (!material) {
        return finish(during(fmt::format("secret {}", secret_.name), material.error()));
    }
    auto ca = pki::read_bundle(material->access.ca);
    if (!ca) return finish(during(fmt::format("CA in secret {}", secret_.name), ca.error()));
    material->access.ca = *std::move(ca);
    for (const std::string& note : material->notes) log::notice(note);
    settings_ = std::move(material->kubelet);
    context_.status.change([&](model::Snapshot& now) {
        if (now.assignment) now.assignment->server = material->access.server;
    });
    credential_ = std::make_unique<NodeCredential>(
        context_, owner_,
        [this](Result<kube::ClusterCredentials> access) { on_credential(std::move(access)); });
    credential_->start(std::move(material->access));
}

void Joining::on_credential(Result<kube::ClusterCredentials> access) {
    auto done = access ? hand_over(*access) : std::unexpected(access.error());
    if (!done) finish(done);
}

Result<> Joining::hand_over(const kube::ClusterCredentials& access) {
    auto minor = minor_of(host_.version);
    if (!minor) return std::unexpected(minor.error());
    auto certificate = pki::read_certificate(access.certificate);
    if (!certificate) return std::unexpected(certificate.error());
    const Secret pair = pair_of(access);
    const model::NodeJoin join{.owner = owner_,
                               .node_name = context_.facts.name,
                               .provider_id = provider_id_of(context_.facts.name),
                               .server = access.server,
                               .server_name = name_of_certificate(access),
                               .minor = *minor,
                               .ca_digest = sha256(access.ca),
                               .certificate_digest = sha256(pair.reveal()),
                               .certificate_serial = certificate->serial,
                               .kubelet = settings_,
                               .labels = host_.labels,
                               .taints = host_.taints};
    std::vector<Fd> contents;
    for (const std::string_view bytes : {std::string_view(access.ca), pair.reveal()}) {
        auto file = in_memory(bytes);
        if (!file) return std::unexpected(file.error());
        contents.push_back(*std::move(file));
    }
    run_ = std::make_unique<PlanRun>(context_, [this](const Result<>& end) { finish(end); });
    run_->apply(plan::make_join(join, new_plan_id("join")),
                {join.ca_digest, join.certificate_digest}, std::move(contents));
    return {};
}

void Joining::finish(Result<> outcome) {
    context_.loop.post(lifetime_.guard([this, outcome = std::move(outcome)] { done_(outcome); }));
}

}  // namespace kubexm::agent
