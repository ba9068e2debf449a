#include "daemon/pki/openssl.hpp"

#include <fmt/format.h>
#include <openssl/err.h>

#include <algorithm>
#include <array>
#include <climits>

namespace kubexm::pki {

Bio reading(std::string_view text) {
    const std::size_t size = std::min<std::size_t>(text.size(), INT_MAX);  // callers limit it
    return Bio(::BIO_new_mem_buf(text.data(), static_cast<int>(size)));
}

std::string written(BIO* bio) {
    char* bytes = nullptr;
    const long size = BIO_get_mem_data(bio, &bytes);
    return size > 0 ? std::string(bytes, static_cast<std::size_t>(size)) : std::string();
}

std::string take_bytes(unsigned char* bytes, int size) {
    if (size <= 0) return "";
    std::string copy(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
    ::OPENSSL_free(bytes);
    return copy;
}

std::string public_key_of(EVP_PKEY* key) {
    unsigned char* der = nullptr;
    const int size = ::i2d_PUBKEY(key, &der);
    return take_bytes(der, size);
}

int no_password(char*, int, int, void*) { return -1; }

std::string only_entry(const X509_NAME* name, int nid) {
    const int at = ::X509_NAME_get_index_by_NID(name, nid, -1);
    if (at < 0 || ::X509_NAME_get_index_by_NID(name, nid, at) >= 0) return "";
    const ASN1_STRING* value = ::X509_NAME_ENTRY_get_data(::X509_NAME_get_entry(name, at));
    unsigned char* utf8 = nullptr;
    const int size = ::ASN1_STRING_to_UTF8(&utf8, value);
    return take_bytes(utf8, size);
}

std::unexpected<Error> openssl_failed(std::string_view doing) {
    const char* reason = ::ERR_reason_error_string(::ERR_peek_last_error());
    auto failed = fail(Code::internal, fmt::format("{}: OpenSSL: {}", doing,
                                                   reason != nullptr ? reason : "no reason"));
    ::ERR_clear_error();
    return failed;
}

bool add_name(X509_NAME* name, int nid, std::string_view text) {
    // OpenSSL does not apply X.520's limit of 64 characters for a common name to a UTF8String;
    // node names can be longer, and the API server accepts them.
    return ::X509_NAME_add_entry_by_NID(name, nid, V_ASN1_UTF8STRING,
                                        reinterpret_cast<const unsigned char*>(text.data()),
                                        static_cast<int>(text.size()), -1, 0) == 1;
}

}  // namespace kubexm::pki
