#include "daemon/pki/pem_blocks.hpp"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/pem.h>

#include <utility>

#include "daemon/base/text.hpp"
#include "daemon/base/try.hpp"

namespace kubexm::pki {

namespace {

constexpr std::size_t kMaxPem = std::size_t{512} * 1024;
constexpr std::size_t kMaxCertificates = 256;
constexpr std::string_view kDashes = "-----";
constexpr std::size_t kDashesPerBlock = 4;

/// A block of PEM_read_bio, wiped: it may be a private key by mistake.
struct Block {
    Block() = default;
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;
    ~Block() {
        ::OPENSSL_free(name);
        ::OPENSSL_free(header);
        ::OPENSSL_clear_free(data, static_cast<std::size_t>(size));
    }

    char* name = nullptr;
    char* header = nullptr;
    unsigned char* data = nullptr;
    long size = 0;
};

std::unexpected<Error> refused(std::size_t number, std::string_view finding) {
    ::ERR_clear_error();
    return fail(Code::invalid, fmt::format("block {} of the PEM text: expected a certificate, {}",
                                           number, finding));
}

Result<X509Certificate> certificate_of(const Block& block, std::size_t number) {
    const std::string_view name(block.name);
    if (name != PEM_STRING_X509) {
        return refused(number, fmt::format("found {:.64}", printable(name)));
    }
    if (*block.header != '\0') return refused(number, "found a certificate with headers");
    const unsigned char* at = block.data;
    X509Certificate certificate(::d2i_X509(nullptr, &at, block.size));
    if (!certificate || at != block.data + block.size) {
        return refused(number, "found unreadable data");
    }
    return certificate;
}

std::size_t count_dashes(std::string_view text) {
    std::size_t count = 0;
    for (auto at = text.find(kDashes); at != std::string_view::npos; at = text.find(kDashes, at)) {
        ++count;
        at += kDashes.size();
    }
    return count;
}

}  // namespace

Result<std::vector<X509Certificate>> read_certificates(std::string_view pem) {
    if (pem.size() > kMaxPem) {
        return fail(Code::invalid, fmt::format("expected at most {} KiB of PEM", kMaxPem / 1024));
    }
    const Bio bio = reading(pem);
    if (!bio) return openssl_failed("reading certificates");
    std::vector<X509Certificate> certificates;
    while (certificates.size() < kMaxCertificates) {
        Block block;
        if (::PEM_read_bio(bio.get(), &block.name, &block.header, &block.data, &block.size) != 1) {
            break;
        }
        auto certificate = TRY(certificate_of(block, certificates.size() + 1));
        certificates.push_back(std::move(certificate));
    }
    ::ERR_clear_error();  // the end of the text is an error for OpenSSL
    // OpenSSL skips a block with a damaged first line; the bundle must not just become shorter.
    if (count_dashes(pem) != kDashesPerBlock * certificates.size()) {
        return refused(certificates.size() + 1, "found a damaged block or too many blocks");
    }
    if (certificates.empty()) return refused(1, "found none");
    return certificates;
}

}  // namespace kubexm::pki
