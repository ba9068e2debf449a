#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "daemon/base/error.hpp"
#include "daemon/executor/wire/replies.hpp"
#include "daemon/executor/wire/requests.hpp"

namespace kubexm::wire {

// The protocol between kubexmd (or root) and the executor. One message is one frame: a JSON object,
// and descriptors.
//
//     {"id": 7, "request": {"type": "follow", "plan_id": "join-1"}}
//     {"id": 7, "last": false, "reply": {"type": "step-event", ...}}
//
// The client chooses the id: a number above 0 that no open request of the connection has. A request
// is open until its last reply; replies of open requests come in any order. The first request is
// Hello. Any request can be answered with Refused. A message that violates the protocol is refused,
// with id 0 where it has none, and ends the connection.

inline constexpr std::size_t kMaxFrame =
    std::size_t{192} * 1024;  // below the kernel's default socket buffer
inline constexpr std::size_t kMaxDescriptors = 64;

using Request = std::variant<Hello, Observe, Preview, Apply, Follow, Cancel, Undo, Repair,
                             Subscribe, History, JournalRequest, Preflight, TrustCa>;
using Reply = std::variant<Hello, Refused, Accepted, StepPreview, StepEvent, PlanSummary,
                           Observation, PermitsChanged, UnitsChanged, Drift, BootstrapKubeconfig,
                           JournalEntry, JournalState, PreflightResult, TrustedAuthorities, End>;

/// Whether more replies to the same request follow.
enum class Part { more, last };

struct NumberedReply {
    std::uint32_t id = 0;
    Part part = Part::last;
    Reply reply;
};

/// The id is known where only the request is wrong.
struct NumberedRequest {
    std::uint32_t id = 0;
    Result<Request> request;
};

std::string pack(std::uint32_t id, const Request& request);
/// A reply always fits a frame, and its reader accepts it: texts and lists are cut where they must.
std::string pack(std::uint32_t id, const Reply& reply, Part part);
/// The descriptor that is sent with a reply; null: none.
std::shared_ptr<const Fd> content_of(const Reply& reply);
/// The reply alone, to be printed.
std::string to_json(const Reply& reply);

/// invalid: the text names the wrong member and never quotes values.
NumberedRequest unpack_request(std::string_view frame);
/// The reply takes the first descriptor of its frame if it has content.
Result<NumberedReply> unpack_reply(std::string_view frame, std::vector<Fd> descriptors = {});

}  // namespace kubexm::wire
