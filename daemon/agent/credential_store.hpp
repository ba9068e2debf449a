#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/base/fd.hpp"
#include "daemon/base/secret.hpp"

namespace kubexm::agent {

/// What kubexmd has to remember beyond its own life: keys and credentials, one file each, for its
/// user only, in its state directory. A file is whole or not there, also after a power cut.
class CredentialStore {
public:
    static Result<CredentialStore> open(const std::string& directory);

    /// Nothing: there is no such file. denied: others can read it, or it is no plain file of ours.
    Result<std::optional<Secret>> read(const std::string& name) const;
    Result<> write(const std::string& name, const Secret& content) const;
    /// Of all files, sorted.
    Result<std::vector<std::string>> names() const;
    /// An absent one is success.
    Result<> remove(const std::string& name) const;

private:
    CredentialStore(Fd directory, std::string path)
        : directory_(std::move(directory)), path_(std::move(path)) {}
    std::string path_of(const std::string& name) const { return path_ + "/" + name; }

    Fd directory_;
    std::string path_;
};

}  // namespace kubexm::agent
