#include "daemon/agent/serving_pair.hpp"

#include "daemon/agent/credentials.hpp"
#include "daemon/base/try.hpp"
#include "daemon/pki/key.hpp"
#include "daemon/pki/self_signed.hpp"

namespace kubexm::agent {

namespace {

constexpr std::chrono::years kSelfSignedFor{10};  // no client verifies it, and it is not renewed

Result<Secret> new_pair(const std::string& host, std::chrono::sys_seconds now) {
    const pki::Key key = TRY(pki::Key::generate());
    const std::string certificate = TRY(pki::self_signed(key, host, now, kSelfSignedFor));
    const Secret pem = TRY(key.pem());
    return pair_of(certificate, pem);
}

}  // namespace

Result<Secret> serving_pair(const AgentContext& context, const std::string& owner) {
    auto stored = TRY(context.store.read(serving_file_of(owner)));
    if (stored) return *std::move(stored);
    Secret pair = TRY(new_pair(context.facts().name, context.state.now()));
    TRY(context.store.write(serving_file_of(owner), pair));
    return pair;
}

}  // namespace kubexm::agent
