#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "api/http/listener.hpp"
#include "api/routes/routes.hpp"

namespace kubexm::http {

/// Who is connected, and through which listener. The default has the fewest rights.
struct ClientPeer {
    api::ListenerKind listener = api::ListenerKind::tcp;
    std::optional<std::uint32_t> uid;  // of a unix socket's peer, when it connected
};

/// The peer of an accepted socket. The user namespace of the unit (PrivateUsers=yes) maps root and
/// the unit's own user to themselves, so uid 0 is the host's root; all others appear as nobody.
ClientPeer peer_of(int socket, std::span<const Listener> listeners);

}  // namespace kubexm::http
