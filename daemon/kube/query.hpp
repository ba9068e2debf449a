#pragma once

#include <string>
#include <string_view>

namespace kubexm::kube {

/// A value in the query of a URL.
std::string escaped(std::string_view text);

}  // namespace kubexm::kube
