#include <fcntl.h>
#include <fmt/format.h>

#include "daemon/base/io.hpp"
#include "daemon/base/try.hpp"
#include "daemon/cli/client.hpp"
#include "daemon/cli/commands.hpp"
#include "daemon/cli/exit_code.hpp"

namespace kubexm::cli {

namespace {

constexpr std::size_t kMaxBundle = std::size_t{128} * 1024;

/// Also from a pipe: root may well fetch it with another program.
Result<std::string> text_of_bundle(const std::string& path) {
    const Fd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    if (!file) return from_errno("open", path);
    return read_rest(file.get(), path, kMaxBundle);
}

}  // namespace

Result<int> trust_ca(const std::string& socket, const std::string& file) {
    const auto bundle = text_of_bundle(file);
    if (!bundle) return refuse_input(bundle.error());
    Client client = TRY(Client::connect(socket));
    const auto done = client.ask(wire::TrustCa{*bundle}, {}, [](const wire::Reply& reply) {
        const auto* trusted = std::get_if<wire::TrustedAuthorities>(&reply);
        if (trusted == nullptr) return;
        for (const wire::AuthorityView& one : trusted->authorities) {
            fmt::print("trusted: {} sha256:{}\n", one.name, one.pin);
        }
    });
    if (!done) return during(file, done.error());
    return kDone;
}

}  // namespace kubexm::cli
