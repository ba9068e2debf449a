#include "daemon/pki/openssl.hpp"

#include <fmt/format.h>
#include <openssl/err.h>

#include <algorithm>
#include <array>
#include <climits>

namespace kubexm::pki {

Bio reading(std::string_view text) {
    const std::size_t size = std::min<std::size_t>(text.size(), INT_MAX);  // callers are far below
    return Bio(::BIO_new_mem_buf(text.data(), static_cast<int>(size)));
}

std::string written(BIO* bio) {
    char* bytes = nullptr;
    const long size = BIO_get_mem_data(bio, &bytes);
    return size > 0 ? std::string(bytes, static_cast<std::size_t>(size)) : std::string();
}

std::unexpected<Error> openssl_failed(std::string_view doing) {
    const char* reason = ::ERR_reason_error_string(::ERR_peek_last_error());
    auto failed = fail(Code::internal, fmt::format("{}: OpenSSL says {}", doing,
                                                   reason != nullptr ? reason : "nothing"));
    ::ERR_clear_error();
    return failed;
}

}  // namespace kubexm::pki
