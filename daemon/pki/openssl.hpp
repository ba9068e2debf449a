#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <string_view>

#include "daemon/base/error.hpp"
#include "daemon/pki/key.hpp"

// OpenSSL's objects with owners. Private to the module.

namespace kubexm::pki {

template <auto kFree>
struct Release {
    void operator()(auto* object) const { kFree(object); }
};
using Bio = std::unique_ptr<BIO, Release<::BIO_free>>;
using PrivateKey = std::unique_ptr<EVP_PKEY, Release<::EVP_PKEY_free>>;
using X509Certificate = std::unique_ptr<X509, Release<::X509_free>>;
using X509Request = std::unique_ptr<X509_REQ, Release<::X509_REQ_free>>;

/// Reads a text that outlives it, without a copy.
Bio reading(std::string_view text);
/// Everything that was written to a BIO in memory.
std::string written(BIO* bio);

/// A call of OpenSSL failed that fails only without memory or with a broken OpenSSL. Empties its
/// queue of errors, which belongs to the thread and would confuse the next reader.
std::unexpected<Error> openssl_failed(std::string_view doing);

struct Key::Impl {
    PrivateKey key;
};

struct KeyAccess {
    static EVP_PKEY* of(const Key& key) { return key.impl_->key.get(); }
};

}  // namespace kubexm::pki
