#pragma once

namespace kubexm::pki {

// One key in two forms, made by OpenSSL's programs.
inline constexpr const char* kFixedSec1 = R"(-----BEGIN EC PRIVATE KEY-----
MHcCAQEEIFzEBv6gSW1ds0H1tpCpEWDB0Oociz6nKCEWbDU2bE/foAoGCCqGSM49
AwEHoUQDQgAEK8FmyC8VpatA0VkpQPrsp3pRZ6za5Zp9mGAj3KKjSetxO7Kms8LA
nWBQXsUbZHHCYc/c128/icZMklgCgFsVYg==
-----END EC PRIVATE KEY-----
)";
inline constexpr const char* kFixedPkcs8 = R"(-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgXMQG/qBJbV2zQfW2
kKkRYMHQ6hyLPqcoIRZsNTZsT9+hRANCAAQrwWbILxWlq0DRWSlA+uynelFnrNrl
mn2YYCPcoqNJ63E7sqazwsCdYFBexRtkccJhz9zXbz+JxkySWAKAWxVi
-----END PRIVATE KEY-----
)";

}  // namespace kubexm::pki
