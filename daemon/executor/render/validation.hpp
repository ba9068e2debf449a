#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/base/grammar.hpp"

namespace kubexm::executor {

/// The place of a list's element: "labels[3]".
std::string element(std::string_view list, std::size_t index);

/// Keeps the first parameter that violates its rule. Messages name the parameter and never quote
/// its value, which may be a secret or contain control characters.
class Validation {
public:
    void text(std::string_view place, std::string_view value, const Rule& rule);
    void optional_text(std::string_view place, std::string_view value, const Rule& rule);
    void that(bool holds, std::string_view place, std::string_view expected);

    /// The keys of a list: limited in number and unique. Call it after the rules of the elements.
    void keys(std::string_view list, const std::vector<std::string>& keys);

    const Result<>& outcome() const { return outcome_; }

private:
    Result<> outcome_;
};

}  // namespace kubexm::executor
