#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <string_view>

#include "daemon/base/error.hpp"
#include "daemon/pki/key.hpp"

// Owners of OpenSSL's objects. Private to the module.

namespace kubexm::pki {

template <auto kFree>
struct FreeWith {
    void operator()(auto* object) const { kFree(object); }
};
using Bio = std::unique_ptr<BIO, FreeWith<::BIO_free>>;
using PrivateKey = std::unique_ptr<EVP_PKEY, FreeWith<::EVP_PKEY_free>>;
using X509Certificate = std::unique_ptr<X509, FreeWith<::X509_free>>;
using X509Request = std::unique_ptr<X509_REQ, FreeWith<::X509_REQ_free>>;

/// A BIO that reads `text`, which must outlive it.
Bio reading(std::string_view text);
/// The content of a memory BIO.
std::string written(BIO* bio);
/// Copies and frees bytes that OpenSSL allocated; empty if `size` is not positive.
std::string take_bytes(unsigned char* bytes, int size);

/// SubjectPublicKeyInfo in DER.
std::string public_key_of(EVP_PKEY* key);

/// A callback for PEM: without one OpenSSL asks for the password of an encrypted block on the
/// terminal.
int no_password(char* buffer, int size, int is_written, void* data);

/// The only value of this kind in a name; empty if there is none or more than one.
std::string only_entry(const X509_NAME* name, int nid);

/// Adds an entry to a name: {NID_commonName, "system:node:h1"}.
bool add_name(X509_NAME* name, int nid, std::string_view text);

/// For calls that fail only without memory or with a broken OpenSSL. Clears the thread's queue of
/// errors.
std::unexpected<Error> openssl_failed(std::string_view doing);

struct Key::Impl {
    PrivateKey key;
};

struct KeyAccess {
    static EVP_PKEY* of(const Key& key) { return key.impl_->key.get(); }
};

}  // namespace kubexm::pki
