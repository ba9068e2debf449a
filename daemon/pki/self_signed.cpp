#include "daemon/pki/self_signed.hpp"

#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <array>

#include "daemon/base/grammar.hpp"
#include "daemon/pki/openssl.hpp"

namespace kubexm::pki {

namespace {

using Extension = std::unique_ptr<X509_EXTENSION, FreeWith<::X509_EXTENSION_free>>;

bool add_extension(X509* certificate, int nid, const std::string& value) {
    const Extension extension(::X509V3_EXT_conf_nid(nullptr, nullptr, nid, value.c_str()));
    return extension && ::X509_add_ext(certificate, extension.get(), -1) == 1;
}

bool set_random_serial(X509* certificate) {
    std::array<unsigned char, 8> bytes{};
    if (::RAND_bytes(bytes.data(), bytes.size()) != 1) return false;
    std::uint64_t serial = 0;
    for (const unsigned char byte : bytes) serial = serial << 8U | byte;
    return ::ASN1_INTEGER_set_uint64(::X509_get_serialNumber(certificate), serial >> 1U) == 1;
}

bool set_validity(X509* certificate, std::chrono::sys_seconds from, std::chrono::seconds lifetime) {
    return ::ASN1_TIME_set(::X509_getm_notBefore(certificate), from.time_since_epoch().count()) !=
               nullptr &&
           ::ASN1_TIME_set(::X509_getm_notAfter(certificate),
                           (from + lifetime).time_since_epoch().count()) != nullptr;
}

bool set_names(X509* certificate, const std::string& host) {
    X509_NAME* name = ::X509_get_subject_name(certificate);
    return add_name(name, NID_commonName, host) && ::X509_set_issuer_name(certificate, name) == 1 &&
           add_extension(certificate, NID_subject_alt_name, "DNS:" + host) &&
           add_extension(certificate, NID_ext_key_usage, "serverAuth");
}

}  // namespace

Result<std::string> self_signed(const Key& key, const std::string& host,
                                std::chrono::sys_seconds now, std::chrono::seconds lifetime) {
    if (!is_dns_name(host)) {
        return fail(Code::invalid, "host: expected " + std::string(kDnsName.words));
    }
    const X509Certificate certificate(::X509_new());
    const Bio bio(::BIO_new(::BIO_s_mem()));
    X509* made = certificate.get();
    if (made == nullptr || !bio || ::X509_set_version(made, X509_VERSION_3) != 1 ||
        !set_random_serial(made) || !set_validity(made, now, lifetime) || !set_names(made, host) ||
        ::X509_set_pubkey(made, KeyAccess::of(key)) != 1 ||
        ::X509_sign(made, KeyAccess::of(key), ::EVP_sha256()) <= 0 ||
        ::PEM_write_bio_X509(bio.get(), made) != 1) {
        return openssl_failed("making a self-signed certificate");
    }
    return written(bio.get());
}

}  // namespace kubexm::pki
