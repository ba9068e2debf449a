#include "daemon/pki/renewal.hpp"

#include <algorithm>
#include <charconv>
#include <string>

#include "daemon/base/digest.hpp"

namespace kubexm::pki {

namespace {

using std::chrono::sys_seconds;
using Seconds = std::chrono::duration<double>;

constexpr double kEarliest = 0.7;  // of the life
constexpr double kSpread = 0.2;
constexpr std::chrono::minutes kLastMinutes{10};

/// 0 to below 1, the same for the same text.
double fraction_of(const std::string& text) {
    constexpr std::size_t kDigits = 8;
    const std::string digits = sha256(text).substr(0, kDigits);
    std::uint32_t number = 0;
    std::from_chars(digits.data(), digits.data() + kDigits, number, 16);
    return number / 4294967296.0;
}

sys_seconds at(const Certificate& certificate, double part) {
    const Seconds life = certificate.not_after - certificate.not_before;
    return certificate.not_before + std::chrono::floor<std::chrono::seconds>(life * part);
}

}  // namespace

sys_seconds renewal_time(const Certificate& certificate, std::string_view host) {
    const double jitter = fraction_of(std::string(host) + "\n" + certificate.serial);
    const sys_seconds chosen = at(certificate, kEarliest + kSpread * jitter);
    const sys_seconds latest = certificate.not_after - kLastMinutes;
    return std::max(at(certificate, kEarliest), std::min(chosen, latest));
}

double life_left(const Certificate& certificate, sys_seconds now) {
    const Seconds life = certificate.not_after - certificate.not_before;
    if (life <= Seconds::zero()) return 0;
    return std::clamp(Seconds(certificate.not_after - now) / life, 0.0, 1.0);
}

}  // namespace kubexm::pki
