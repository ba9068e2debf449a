#pragma once

#include <string>
#include <utility>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/pki/authority.hpp"

namespace kubexm::executor {

/// The CAs that root has confirmed with `kubexmctl certs trust-ca`: a file in the state directory
/// with a line for each, its pin first. They outlive a discarded journal.
class ConfirmedAuthorities {
public:
    explicit ConfirmedAuthorities(std::string directory) : directory_(std::move(directory)) {}

    Result<std::vector<std::string>> pins() const;
    /// exhausted: there are too many.
    Result<> add(const std::vector<pki::Authority>& authorities) const;

private:
    Result<std::string> read() const;
    std::string directory_;
};

}  // namespace kubexm::executor
