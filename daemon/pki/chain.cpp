#include "daemon/pki/chain.hpp"

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <iterator>

#include "daemon/pki/pem_blocks.hpp"
#include "daemon/pki/x509.hpp"

namespace kubexm::pki {

namespace {

constexpr std::size_t kLongestChain = 8;

std::vector<X509Certificate> all_of(std::string_view pem, std::string_view bundle) {
    auto all = read_certificates(pem).value_or(std::vector<X509Certificate>());
    auto more = read_certificates(bundle).value_or(std::vector<X509Certificate>());
    if (all.empty()) return all;
    std::ranges::move(more, std::back_inserter(all));
    return all;
}

}  // namespace

bool has_issued(X509* above, X509* below) {
    const bool is_issuer = ::X509_check_issued(above, below) == X509_V_OK &&
                           ::X509_verify(below, ::X509_get0_pubkey(above)) == 1;
    ::ERR_clear_error();
    return is_issuer;
}

std::vector<Certificate> issuers_of(std::string_view pem, std::string_view bundle) {
    const auto all = all_of(pem, bundle);
    std::vector<Certificate> issuers;
    if (all.empty()) return issuers;
    X509* below = all.front().get();
    while (issuers.size() < kLongestChain && !has_issued(below, below)) {
        const auto above = std::ranges::find_if(
            all, [&](const X509Certificate& each) { return has_issued(each.get(), below); });
        if (above == all.end()) break;
        below = above->get();
        auto issuer = describe(below);
        if (!issuer) break;
        issuers.push_back(*std::move(issuer));
    }
    return issuers;
}

}  // namespace kubexm::pki
