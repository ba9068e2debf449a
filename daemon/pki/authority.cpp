#include "daemon/pki/authority.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <openssl/pem.h>

#include "daemon/base/digest.hpp"
#include "daemon/base/try.hpp"
#include "daemon/pki/pem_blocks.hpp"
#include "daemon/pki/x509.hpp"

namespace kubexm::pki {

namespace {

Result<std::string> pem_of(X509* certificate) {
    const Bio bio(::BIO_new(::BIO_s_mem()));
    if (!bio || ::PEM_write_bio_X509(bio.get(), certificate) != 1) {
        return openssl_failed("writing a certificate");
    }
    return written(bio.get());
}

Result<Authority> read_authority(X509* from, std::chrono::sys_seconds now) {
    const Certificate certificate = TRY(describe(from));
    if (!certificate.is_authority) {
        return fail(Code::invalid, fmt::format("{:.512}: expected a CA, found a leaf certificate",
                                               certificate.text));
    }
    if (now < certificate.not_before || now >= certificate.not_after) {
        return fail(Code::invalid,
                    fmt::format("{:.512}: expected a CA that is valid now, found notBefore "
                                "{:%FT%TZ}, notAfter {:%FT%TZ}",
                                certificate.text, certificate.not_before, certificate.not_after));
    }
    return Authority{certificate.text, sha256(certificate.public_key), TRY(pem_of(from))};
}

}  // namespace

Result<std::vector<Authority>> read_authorities(std::string_view pem,
                                                std::chrono::sys_seconds now) {
    const auto certificates = TRY(read_certificates(pem));
    if (certificates.size() > kMostAuthorities) {
        return fail(Code::invalid,
                    fmt::format("CA bundle: expected at most {} certificates", kMostAuthorities));
    }
    std::vector<Authority> authorities;
    authorities.reserve(certificates.size());
    for (const X509Certificate& certificate : certificates) {
        authorities.push_back(TRY(read_authority(certificate.get(), now)));
    }
    return authorities;
}

std::vector<Authority> valid_authorities(std::string_view pem, std::chrono::sys_seconds now) {
    std::vector<Authority> valid;
    const auto certificates = read_certificates(pem);
    if (!certificates) return valid;
    for (const X509Certificate& certificate : *certificates) {
        auto authority = read_authority(certificate.get(), now);
        if (authority) valid.push_back(*std::move(authority));
    }
    return valid;
}

bool has_signed(const Authority& issuer, const Authority& subject) {
    const auto from = read_certificates(issuer.pem);
    const auto to = read_certificates(subject.pem);
    if (!from || !to) return false;
    return has_issued(from->front().get(), to->front().get());
}

}  // namespace kubexm::pki
