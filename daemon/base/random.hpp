#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace kubexm {

/// The next random number, from 0 to below 1: that of the system, or of a test.
using Random = std::function<double()>;

/// Any thread.
double system_random();

/// "PREFIX-" and 16 random digits.
std::string new_id(std::string_view prefix, const Random& random = system_random);

}  // namespace kubexm
