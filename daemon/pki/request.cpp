#include "daemon/pki/request.hpp"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/pem.h>

#include <array>
#include <new>

#include "daemon/base/base64.hpp"
#include "daemon/base/digest.hpp"
#include "daemon/base/scan.hpp"
#include "daemon/base/try.hpp"
#include "daemon/pki/openssl.hpp"

namespace kubexm::pki {

namespace {

constexpr std::size_t kMaxName = 512;        // "system:node:" and a name of 253 characters fit
constexpr std::size_t kHostNameDigits = 16;  // of SHA-256
constexpr std::size_t kMaxRequest = std::size_t{64} * 1024;

Result<> check_name(std::string_view what, std::string_view text) {
    const auto is_shown = [](char c) { return c >= 0x20 && c < 0x7f; };
    if (text.size() <= kMaxName && made_of(text, is_shown)) return {};
    return fail(Code::invalid, fmt::format("{} of a certificate request: expected 1 to {} "
                                           "characters of printable ASCII",
                                           what, kMaxName));
}

bool fill(X509_REQ* request, EVP_PKEY* key, const Subject& subject) {
    X509_NAME* name = ::X509_REQ_get_subject_name(request);
    return ::X509_REQ_set_version(request, 0) == 1 &&
           add_name(name, NID_organizationName, subject.organization) &&
           add_name(name, NID_commonName, subject.common_name) &&
           ::X509_REQ_set_pubkey(request, key) == 1 &&
           ::X509_REQ_sign(request, key, ::EVP_sha256()) > 0;
}

std::string sha512_256(std::string_view bytes) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
    std::size_t size = 0;
    // Fails only without memory or with a broken OpenSSL, as sha256().
    if (::EVP_Q_digest(nullptr, "SHA512-256", nullptr, bytes.data(), bytes.size(), hash.data(),
                       &size) != 1) {
        throw std::bad_alloc();
    }
    return {reinterpret_cast<const char*>(hash.data()), size};
}

}  // namespace

Result<std::string> make_request(const Key& key, const Subject& subject) {
    TRY(check_name("common name", subject.common_name));
    TRY(check_name("organization", subject.organization));
    const X509Request request(::X509_REQ_new());
    const Bio bio(::BIO_new(::BIO_s_mem()));
    if (!request || !bio || !fill(request.get(), KeyAccess::of(key), subject) ||
        ::PEM_write_bio_X509_REQ(bio.get(), request.get()) != 1) {
        return openssl_failed("making a certificate request");
    }
    return written(bio.get());
}

Result<RequestContent> read_request(std::string_view pem) {
    const auto refused = [] {
        ::ERR_clear_error();
        return fail(Code::invalid,
                    "expected a certificate request in PEM that is signed with its key");
    };
    if (pem.size() > kMaxRequest) return refused();
    const Bio bio = reading(pem);
    if (!bio) return openssl_failed("reading a certificate request");
    const X509Request request(::PEM_read_bio_X509_REQ(bio.get(), nullptr, no_password, nullptr));
    if (!request) return refused();
    EVP_PKEY* key = ::X509_REQ_get0_pubkey(request.get());
    if (key == nullptr || ::X509_REQ_verify(request.get(), key) != 1) return refused();
    const X509_NAME* name = ::X509_REQ_get_subject_name(request.get());
    return RequestContent{.subject = {.common_name = only_entry(name, NID_commonName),
                                      .organization = only_entry(name, NID_organizationName)},
                          .has_only_subject = ::X509_NAME_entry_count(name) == 2,
                          .public_key = public_key_of(key)};
}

std::string node_request_name(const Key& key, const Subject& subject,
                              const std::vector<std::string>& usages) {
    std::string text;
    const auto add = [&text](std::string_view part) { text += base64url(part) + "|"; };
    add(key.public_key());
    add(subject.common_name);
    add(subject.organization);
    for (const std::string& usage : usages) add(usage);
    return "node-csr-" + base64url(sha512_256(text));
}

std::string host_request_name(const Key& key, std::string_view host) {
    return fmt::format("byoh-csr-{}-{}", host, sha256(key.public_key()).substr(0, kHostNameDigits));
}

}  // namespace kubexm::pki
