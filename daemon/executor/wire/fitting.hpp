#pragma once

#include "daemon/executor/wire/messages.hpp"

namespace kubexm::wire {

/// The reply as one frame holds it and its reader accepts it: texts are cut, lists end earlier. In
/// an Observation the details go first, then the owners that decide least. Private to this module.
/// Pure.
Reply fitted(Reply reply);

}  // namespace kubexm::wire
