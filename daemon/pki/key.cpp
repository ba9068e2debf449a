#include "daemon/pki/key.hpp"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/pem.h>

#include <array>
#include <utility>

#include "daemon/pki/openssl.hpp"

namespace kubexm::pki {

namespace {

constexpr std::size_t kMaxKey = std::size_t{16} * 1024;  // one of P-256 has 240 bytes
// An uncompressed point on a named curve: the form that every reader accepts.
constexpr std::size_t kPublicKeyBytes = 91;

struct CheckFree {
    void operator()(EVP_PKEY_CTX* context) const { ::EVP_PKEY_CTX_free(context); }
};

bool is_p256(EVP_PKEY* key) {
    std::array<char, 32> curve{};
    return ::EVP_PKEY_is_a(key, "EC") == 1 &&
           ::EVP_PKEY_get_group_name(key, curve.data(), curve.size(), nullptr) == 1 &&
           std::string_view(curve.data()) == "prime256v1";
}

/// Whether private and public key match; PEM_read_bio_PrivateKey does not check that.
bool is_pair(EVP_PKEY* key) {
    const std::unique_ptr<EVP_PKEY_CTX, CheckFree> context(
        ::EVP_PKEY_CTX_new_from_pkey(nullptr, key, nullptr));
    return context && ::EVP_PKEY_pairwise_check(context.get()) == 1;
}

}  // namespace

Key::Key(std::unique_ptr<Impl> impl, std::string public_key)
    : impl_(std::move(impl)), public_key_(std::move(public_key)) {}
Key::Key(Key&&) noexcept = default;
Key& Key::operator=(Key&&) noexcept = default;
Key::~Key() = default;

Result<Key> Key::generate() {
    PrivateKey key(EVP_EC_gen("P-256"));
    if (!key) return openssl_failed("making a key");
    std::string public_key = public_key_of(key.get());
    if (public_key.size() != kPublicKeyBytes) return openssl_failed("encoding a new key");
    return Key(std::make_unique<Impl>(std::move(key)), std::move(public_key));
}

Result<Key> Key::from_pem(std::string_view pem) {
    const auto refused = [] {
        ::ERR_clear_error();
        return fail(Code::invalid,
                    "expected an unencrypted private key of P-256 in PEM (PKCS#8 or SEC 1)");
    };
    if (pem.size() > kMaxKey) return refused();
    const Bio bio = reading(pem);
    if (!bio) return openssl_failed("reading a key");
    PrivateKey key(::PEM_read_bio_PrivateKey(bio.get(), nullptr, no_password, nullptr));
    if (!key || !is_p256(key.get()) || !is_pair(key.get())) return refused();
    std::string public_key = public_key_of(key.get());
    if (public_key.size() != kPublicKeyBytes) return refused();
    ::ERR_clear_error();  // decoders that failed before one succeeded leave errors
    return Key(std::make_unique<Impl>(std::move(key)), std::move(public_key));
}

Result<Secret> Key::pem() const {
    const Bio bio(::BIO_new(::BIO_s_secmem()));  // wipes its memory, also when it grows
    if (!bio || ::PEM_write_bio_PKCS8PrivateKey(bio.get(), impl_->key.get(), nullptr, nullptr, 0,
                                                nullptr, nullptr) != 1) {
        return openssl_failed("writing a key");
    }
    return Secret(written(bio.get()));
}

}  // namespace kubexm::pki
