#pragma once

#include <chrono>
#include <string_view>

#include "daemon/pki/certificate.hpp"

namespace kubexm::pki {

/// When a certificate is renewed: at 70 to 90 % of its life, at a point that follows from the host
/// and the certificate, so that a fleet spreads and a restart changes nothing; ten minutes before
/// the end at the latest, but never before 70 %. Pure.
std::chrono::sys_seconds renewal_time(const Certificate& certificate, std::string_view host);

/// The part of a certificate's life that is left, 0 to 1. Pure.
double life_left(const Certificate& certificate, std::chrono::sys_seconds now);

}  // namespace kubexm::pki
