#include "daemon/model/command.hpp"

#include <fmt/format.h>

#include "daemon/base/codec.hpp"
#include "daemon/base/json.hpp"

namespace kubexm::model {

namespace {

constexpr JsonLimits kCommandLimits{.max_bytes = 4096, .max_depth = 2, .max_values = 8};

struct CommandBody {
    Verb verb = Verb::pause;
    std::optional<std::uint32_t> seconds;
    std::optional<std::string> certificate;

    static void fields(auto& self, auto&& visit) {
        visit("verb", self.verb);
        visit("for", self.seconds);
        visit("certificate", self.certificate);
    }
};

Result<> check_seconds(const CommandBody& body) {
    if (!body.seconds) return {};
    if (body.verb != Verb::pause) {
        return fail(Code::invalid, "operation.for: only a pause has a duration; leave it out");
    }
    if (*body.seconds > 0 && *body.seconds <= kLongestPause.count()) return {};
    return fail(Code::invalid,
                fmt::format("operation.for: expected 1 to {} seconds, found {}; without it the "
                            "pause lasts until resume",
                            kLongestPause.count(), *body.seconds));
}

Result<> check_certificate(const CommandBody& body) {
    if (!body.certificate || body.verb == Verb::renew) return {};
    return fail(Code::invalid,
                "operation.certificate: only a renewal names a certificate; leave it out");
}

}  // namespace

std::string to_json(const Command& command) {
    CommandBody body{.verb = command.verb, .seconds = {}, .certificate = {}};
    if (!command.certificate.empty()) body.certificate = command.certificate;
    if (command.duration) body.seconds = static_cast<std::uint32_t>(command.duration->count());
    return codec::encode(body).dump();
}

Result<Command> command_from_json(std::string_view body) {
    const auto document = parse_json(body, kCommandLimits);
    if (!document) return during("operation", document.error());
    CommandBody read;
    TRY(codec::decode(*document, read, {"operation", {}}));
    TRY(check_seconds(read));
    TRY(check_certificate(read));
    Command command;
    command.verb = read.verb;
    command.certificate = read.certificate.value_or("");
    if (read.seconds) command.duration = std::chrono::seconds(*read.seconds);
    return command;
}

}  // namespace kubexm::model
