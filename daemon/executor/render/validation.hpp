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

/// Remembers the first parameter that breaks its rule, so that the rules of a document read as a
/// list. Messages name the parameter and never quote a value that breaks a rule: it may be a
/// secret, or made to be read by somebody's terminal.
class Validation {
public:
    void text(std::string_view place, std::string_view value, const Rule& rule);
    void optional_text(std::string_view place, std::string_view value, const Rule& rule);
    void that(bool holds, std::string_view place, std::string_view expected);

    /// The keys of a list: not too many, each once. Comes after the rules of its elements.
    void keys(std::string_view list, const std::vector<std::string>& keys);

    const Result<>& outcome() const { return outcome_; }

private:
    Result<> outcome_;
};

}  // namespace kubexm::executor
