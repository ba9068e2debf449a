#include "daemon/base/digest.hpp"

#include <openssl/evp.h>

#include <array>
#include <new>

#include "daemon/base/hex.hpp"

namespace kubexm {

namespace {

// OpenSSL fails here only without memory or without its own SHA-256; no caller could handle that.
void check(int outcome) {
    if (outcome != 1) throw std::bad_alloc();
}

}  // namespace

struct Sha256::Context {
    struct Free {
        void operator()(EVP_MD_CTX* context) const { ::EVP_MD_CTX_free(context); }
    };
    std::unique_ptr<EVP_MD_CTX, Free> evp{::EVP_MD_CTX_new()};
};

Sha256::Sha256() : context_(std::make_unique<Context>()) {
    check(context_->evp ? 1 : 0);
    check(::EVP_DigestInit_ex(context_->evp.get(), ::EVP_sha256(), nullptr));
}
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;
Sha256::~Sha256() = default;

void Sha256::update(std::string_view bytes) {
    check(::EVP_DigestUpdate(context_->evp.get(), bytes.data(), bytes.size()));
}

std::string Sha256::finish() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
    unsigned int size = 0;
    check(::EVP_DigestFinal_ex(context_->evp.get(), hash.data(), &size));
    check(::EVP_DigestInit_ex(context_->evp.get(), nullptr, nullptr));
    return to_hex({reinterpret_cast<const char*>(hash.data()), size});
}

std::string sha256(std::string_view bytes) {
    Sha256 digest;
    digest.update(bytes);
    return digest.finish();
}

}  // namespace kubexm
