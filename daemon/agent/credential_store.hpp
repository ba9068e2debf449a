#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/base/secret.hpp"
#include "daemon/base/state_directory.hpp"

namespace kubexm::agent {

/// Keys and credentials in kubexmd's state directory, one file each, readable for its user only. A
/// file is complete or absent, also after a power cut.
class CredentialStore {
public:
    static Result<CredentialStore> open(const std::string& directory);

    /// Nothing: no such file. denied: not a regular file of this user, or others can read it.
    Result<std::optional<Secret>> read(const std::string& name) const;
    Result<> write(const std::string& name, const Secret& content) const;
    /// Of all files, sorted.
    Result<std::vector<std::string>> names() const;
    /// An absent file is success.
    Result<> remove(const std::string& name) const;

private:
    explicit CredentialStore(StateDirectory directory) : directory_(std::move(directory)) {}

    StateDirectory directory_;
};

}  // namespace kubexm::agent
