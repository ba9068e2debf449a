#include <utility>

#include "api/routes/responses.hpp"
#include "api/view/view.hpp"

namespace kubexm::api {

namespace {

constexpr std::uint32_t kRoot = 0;

Response refusal(const Error& error) {
    switch (error.code) {
        case Code::unavailable:
        case Code::timeout:
        case Code::exhausted:
            return problem(503, "Service Unavailable", error.what);
        case Code::not_found:
            return problem(404, "Not Found", error.what);
        case Code::internal:
            return problem(500, "Internal Server Error", error.what);
        case Code::invalid:
        case Code::conflict:
        case Code::denied:
        case Code::corrupt:
        case Code::cancelled:
            return problem(409, "Conflict", error.what);
    }
    std::unreachable();
}

}  // namespace

Routed operation(const ClientRequest& request) {
    if (request.method != "POST") return wrong_method("POST", "operations are sent with POST");
    // The mode of the control socket is the first gate, this is the second.
    if (request.listener != ListenerKind::control || request.uid != kRoot) {
        return problem(403, "Forbidden",
                       "operations are accepted from root on /run/kubexm/control.sock only: use "
                       "kubexmctl as root");
    }
    auto command = model::command_from_json(request.body);
    if (!command) return problem(400, "Bad Request", command.error().what);
    command->uid = *request.uid;
    command->listener = name_of(request.listener);
    return *std::move(command);
}

Response decided(const std::string& id, const Result<std::string>& decision) {
    if (!decision) return refusal(decision.error());
    auto accepted = plain(kJson, operation_json(id, *decision));
    accepted.status = 202;
    return accepted;
}

}  // namespace kubexm::api
