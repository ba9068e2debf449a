#pragma once

namespace kubexm::http {

/// Lets no event loop of this process wait for a descriptor any more; it stays registered there.
/// Drogon has no call to stop accepting while it still answers, and its epoll cannot be reached.
void ignore_in_event_loops(int fd);

}  // namespace kubexm::http
