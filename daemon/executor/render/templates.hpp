#pragma once

#include <string_view>

namespace kubexm::executor {

// The files of units/templates; CMake generates the definitions.
extern const std::string_view kKubeletServiceTemplate;  // with @NODE_FLAGS@
extern const std::string_view kProxyDropInTemplate;     // with @SETTINGS@

}  // namespace kubexm::executor
