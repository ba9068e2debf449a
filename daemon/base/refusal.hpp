#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "daemon/base/error.hpp"

namespace kubexm {

// Every security check of the executor has a name and one place, where it refuses.
//
// A check without which nothing more would be possible is no check. The escape suite
// (tests/support/escapes) therefore makes each attempt twice: it succeeds while the check that
// stops it is off, and fails while it is on. KUBEXM_TEST_CHECKS_OFF="<name>,<name>" in the
// environment: these are off in this process. Without -DKUBEXM_CRASH_POINTS=ON, as in packages, no
// check can be switched off, and the names are in no program.
#ifdef KUBEXM_CRASH_POINTS
bool is_off(std::string_view check);
#else
inline constexpr bool is_off(std::string_view /*check*/) { return false; }
#endif

/// The error of the check `check`, which stops a request.
inline Result<> refusal(std::string_view check, Code code, std::string what) {
    if (is_off(check)) return {};
    return fail(code, std::move(what));
}

}  // namespace kubexm
