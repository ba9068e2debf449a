#pragma once

#include <array>
#include <string_view>

namespace kubexm::executor::families {

/// The files in families/.
extern const std::array<std::string_view, 6> kFamilyTexts;

}  // namespace kubexm::executor::families
