#pragma once

#include <fstream>
#include <iterator>
#include <string>

namespace kubexm::api {

/// A file of tests/unit/api/golden; test_openapi.py checks them against the contract.
inline std::string golden(const std::string& name) {
    std::ifstream file(std::string(KUBEXM_GOLDEN) + "/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace kubexm::api
