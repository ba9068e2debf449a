#pragma once

#include <string_view>

namespace kubexm::executor {

// The texts of units/templates; CMake makes their definition.
extern const std::string_view kKubeletServiceTemplate;  // with @NODE_FLAGS@
extern const std::string_view kProxyDropInTemplate;     // with @SETTINGS@

}  // namespace kubexm::executor
