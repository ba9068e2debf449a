#include "daemon/pki/certificate.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <ctime>
#include <optional>
#include <utility>

#include "daemon/base/hex.hpp"
#include "daemon/base/text.hpp"
#include "daemon/base/try.hpp"
#include "daemon/pki/pem_blocks.hpp"
#include "daemon/pki/x509.hpp"

namespace kubexm::pki {

namespace {

using std::chrono::sys_seconds;

Result<std::string> text_of(const X509_NAME* name) {
    const Bio bio(::BIO_new(::BIO_s_mem()));
    constexpr unsigned long kForm = XN_FLAG_RFC2253 & ~XN_FLAG_SEP_MASK;
    if (!bio || ::X509_NAME_print_ex(bio.get(), name, 0, kForm | XN_FLAG_SEP_CPLUS_SPC) < 0) {
        return openssl_failed("printing a subject");
    }
    return printable(written(bio.get()));
}

std::string serial_of(const X509* certificate) {
    const ASN1_INTEGER* serial = ::X509_get0_serialNumber(certificate);
    return to_hex(
        {reinterpret_cast<const char*>(serial->data), static_cast<std::size_t>(serial->length)});
}

std::optional<sys_seconds> time_of(const ASN1_TIME* time) {
    std::tm parts{};
    if (::ASN1_TIME_to_tm(time, &parts) != 1) return std::nullopt;
    return sys_seconds(std::chrono::seconds(::timegm(&parts)));
}

std::string public_key_of(const X509* certificate) {
    unsigned char* der = nullptr;
    const int size = ::i2d_X509_PUBKEY(::X509_get_X509_PUBKEY(certificate), &der);
    return take_bytes(der, size);
}

bool is_for_clients(X509* certificate) {
    return (::X509_get_extension_flags(certificate) & EXFLAG_XKUSAGE) != 0 &&
           (::X509_get_extended_key_usage(certificate) & XKU_SSL_CLIENT) != 0;
}

/// The first difference from the request; empty: none.
std::string difference(const Certificate& certificate, const Key& key, const Subject& wanted,
                       sys_seconds now) {
    if (certificate.public_key != key.public_key()) return "expected our key, found another";
    if (certificate.subject != wanted || !certificate.has_only_subject) {
        return fmt::format("expected the subject CN={}, O={}, found {:.512}", wanted.common_name,
                           wanted.organization, certificate.text);
    }
    if (!certificate.client_auth) return "expected the extended key usage client auth, found none";
    if (certificate.is_authority) return "expected a leaf certificate, found a CA";
    if (certificate.has_alternative_names) return "expected no alternative names, found some";
    if (now < certificate.not_before) {
        return fmt::format(
            "expected a certificate that is valid now, found notBefore {:%FT%TZ}; check this "
            "host's clock",
            certificate.not_before);
    }
    if (now >= certificate.not_after) {
        return fmt::format("expected a certificate that is valid now, found notAfter {:%FT%TZ}",
                           certificate.not_after);
    }
    return "";
}

}  // namespace

Result<Certificate> describe(X509* certificate) {
    const X509_NAME* name = ::X509_get_subject_name(certificate);
    const auto not_before = time_of(::X509_get0_notBefore(certificate));
    const auto not_after = time_of(::X509_get0_notAfter(certificate));
    const bool is_valid = (::X509_get_extension_flags(certificate) & EXFLAG_INVALID) == 0;
    ::ERR_clear_error();
    if (!not_before || !not_after || !is_valid) {
        return fail(Code::invalid, "certificate: expected readable times and extensions");
    }
    auto text = TRY(text_of(name));
    return Certificate{
        .subject = {.common_name = only_entry(name, NID_commonName),
                    .organization = only_entry(name, NID_organizationName)},
        .has_only_subject = ::X509_NAME_entry_count(name) == 2,
        .serial = serial_of(certificate),
        .text = std::move(text),
        .public_key = public_key_of(certificate),
        .not_before = *not_before,
        .not_after = *not_after,
        .client_auth = is_for_clients(certificate),
        .is_authority = ::X509_check_ca(certificate) != 0,
        .has_alternative_names = ::X509_get_ext_by_NID(certificate, NID_subject_alt_name, -1) >= 0,
    };
}

Result<Certificate> read_certificate(std::string_view pem) {
    const auto certificates = TRY(read_certificates(pem));
    return describe(certificates.front().get());
}

Result<> check_issued(const Certificate& certificate, const Key& key, const Subject& wanted,
                      sys_seconds now) {
    const std::string different = difference(certificate, key, wanted, now);
    if (different.empty()) return {};
    return fail(Code::invalid,
                fmt::format("issued certificate {:.64}: {}", certificate.serial, different));
}

Result<std::string> read_bundle(std::string_view pem) {
    const auto certificates = TRY(read_certificates(pem));
    const Bio bio(::BIO_new(::BIO_s_mem()));
    for (const X509Certificate& certificate : certificates) {
        if (!bio || ::PEM_write_bio_X509(bio.get(), certificate.get()) != 1) {
            return openssl_failed("writing a CA bundle");
        }
    }
    return written(bio.get());
}

Result<std::vector<std::string>> fingerprints_of(std::string_view pem) {
    const auto certificates = TRY(read_certificates(pem));
    std::vector<std::string> fingerprints;
    for (const X509Certificate& certificate : certificates) {
        std::string bytes(SHA256_DIGEST_LENGTH, '\0');
        auto* const target = reinterpret_cast<unsigned char*>(bytes.data());
        if (::X509_digest(certificate.get(), ::EVP_sha256(), target, nullptr) != 1) {
            return openssl_failed("computing the digest of a certificate");
        }
        fingerprints.push_back(to_hex(bytes));
    }
    std::ranges::sort(fingerprints);
    return fingerprints;
}

}  // namespace kubexm::pki
