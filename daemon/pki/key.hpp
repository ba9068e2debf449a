#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "daemon/base/error.hpp"
#include "daemon/base/secret.hpp"

namespace kubexm::pki {

/// A private key on the curve P-256, exported as a Secret only.
class Key {
public:
    static Result<Key> generate();
    /// PKCS#8 or SEC 1, not encrypted, P-256. invalid: anything else; never quotes the text.
    static Result<Key> from_pem(std::string_view pem);
    Key(Key&&) noexcept;
    Key& operator=(Key&&) noexcept;
    ~Key();

    /// PKCS#8.
    Result<Secret> pem() const;
    /// SubjectPublicKeyInfo in DER.
    const std::string& public_key() const { return public_key_; }

private:
    friend struct KeyAccess;  // for the other files of the module
    struct Impl;
    explicit Key(std::unique_ptr<Impl> impl, std::string public_key);
    std::unique_ptr<Impl> impl_;
    std::string public_key_;
};

}  // namespace kubexm::pki
