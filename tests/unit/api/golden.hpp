#pragma once

#include <fstream>
#include <iterator>
#include <string>

namespace kubexm::api {

/// A file of tests/unit/api/golden; tests/unit/support/test_openapi.py holds them to the contract.
inline std::string golden(const std::string& name) {
    std::ifstream file(std::string(KUBEXM_GOLDEN) + "/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace kubexm::api
