#pragma once

#include <string_view>

namespace kubexm::api {

// The files of the status page in this directory; CMake generates their definition.
extern const std::string_view kIndexHtml;
extern const std::string_view kStyleCss;
extern const std::string_view kPageJs;

}  // namespace kubexm::api
