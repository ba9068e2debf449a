#include "daemon/pki/key.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/err.h>

#include <array>
#include <string>

#include "tests/unit/daemon/pki/fixed_key.hpp"

namespace kubexm::pki {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct Refused {
    const char* why;
    std::string pem;
};

constexpr const char* kEncrypted = R"(-----BEGIN ENCRYPTED PRIVATE KEY-----
MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAhqXowxaHrWqgICCAAw
DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEPUuaHViUx++JHqihTLz0qUEgZBn
Pi2INW5rHcuRHVfeZ4VEEoyaUksVUB9DOalEMXcTR53vy6T9eyUFOH3h9A1R8KZ6
m5COXoon5vfwBu/Scb43xwSonFRNWPR9qtsqO4K9XlLHqZVzNN08LnhjP15uvgCI
T3KUbA4h1VzD64dDH+791CxY6IQJoHJfiQlBkkWjvzXLZm2uOPG8C6A/VZ+4XiM=
-----END ENCRYPTED PRIVATE KEY-----
)";
constexpr const char* kEncryptedOldStyle = R"(-----BEGIN EC PRIVATE KEY-----
Proc-Type: 4,ENCRYPTED
DEK-Info: AES-128-CBC,822F9FC12C5C40BDD2859AD33B1D8B75

gyLFGo8t1qSEpPtt3VwyVW0y57qcXB4p7achG1NLhkHOQTF8Uar9giRJJnPaM2gh
FDCeradhqLFR21tffEkph+dqee8WG/bOBs7LoVTqZz/Qk+4C3I6sig3JKBKMYZYG
rvo3VOWCf1yohS6dhmwHsDUljq3D/WXEIMv9tRE+itk=
-----END EC PRIVATE KEY-----
)";
constexpr const char* kP384 = R"(-----BEGIN EC PRIVATE KEY-----
MIGkAgEBBDAclG1WC/gN5FuiJ6eUGyQKeJBz1lysh/aSqTNZonxpodJiLRDhGyWf
2voSl9IY0IKgBwYFK4EEACKhZANiAARsm7eaMrM6c6Av8/chBvYN0z8dv73gMqCX
uHNCbtX3tFkymLLAwEY/8T3GZleuPQRdNZJfEDDWlgdLaxVvcqiEGyEes1YvssnF
qG5V6dwTJHyWGXnnTOTIK9a72UPF7zg=
-----END EC PRIVATE KEY-----
)";
constexpr const char* kExplicitParameters = R"(-----BEGIN EC PRIVATE KEY-----
MIIBaAIBAQQgUlCzp/jXfMrVuwGlLUAgYIya+5AgSfEFMB8uL6u000+ggfowgfcC
AQEwLAYHKoZIzj0BAQIhAP////8AAAABAAAAAAAAAAAAAAAA////////////////
MFsEIP////8AAAABAAAAAAAAAAAAAAAA///////////////8BCBaxjXYqjqT57Pr
vVV2mIa8ZR0GsMxTsPY7zjw+J9JgSwMVAMSdNgiG5wSTamZ44ROdJreBn36QBEEE
axfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpZP40Li/hp/m47n60p8D54W
K84zV2sxXs7LtkBoN79R9QIhAP////8AAAAA//////////+85vqtpxeehPO5ysL8
YyVRAgEBoUQDQgAEPo04BTbywsX8TlB2Pqm6i+IjoyRNG/si4VjMsEsGDxZWL++K
g2FO4B3JnfC9Q3PdD70yp1Iz9Y3XPWoV2HBpGw==
-----END EC PRIVATE KEY-----
)";
constexpr const char* kCompressedPoint = R"(-----BEGIN EC PRIVATE KEY-----
MFcCAQEEIFzEBv6gSW1ds0H1tpCpEWDB0Oociz6nKCEWbDU2bE/foAoGCCqGSM49
AwEHoSQDIgACK8FmyC8VpatA0VkpQPrsp3pRZ6za5Zp9mGAj3KKjSes=
-----END EC PRIVATE KEY-----
)";

std::string revealed(const Key& key) {
    const auto pem = key.pem();
    return pem ? std::string(pem->reveal()) : pem.error().what;
}

TEST(Key, IsNewEachTime) {
    const auto first = Key::generate();
    const auto second = Key::generate();
    ASSERT_TRUE(first && second);
    EXPECT_NE(first->public_key(), second->public_key());
    EXPECT_THAT(revealed(*first), StartsWith("-----BEGIN PRIVATE KEY-----\n"));
}

TEST(Key, ReadsBothForms) {
    const auto from_sec1 = Key::from_pem(kFixedSec1);
    const auto from_pkcs8 = Key::from_pem(kFixedPkcs8);
    ASSERT_TRUE(from_sec1 && from_pkcs8);
    EXPECT_EQ(from_sec1->public_key(), from_pkcs8->public_key());
    EXPECT_EQ(revealed(*from_sec1), kFixedPkcs8);
}

TEST(Key, ReadsWhatItWrites) {
    const auto key = Key::generate();
    ASSERT_TRUE(key);
    const auto again = Key::from_pem(revealed(*key));
    ASSERT_TRUE(again);
    EXPECT_EQ(again->public_key(), key->public_key());
}

TEST(Key, RefusesEverythingElse) {
    const std::string fixed(kFixedPkcs8);
    std::string damaged = fixed;
    damaged[60] = damaged[60] == 'A' ? 'B' : 'A';
    for (const auto& [why, pem] : std::array<Refused, 10>{{
             {"encrypted", kEncrypted},
             {"encrypted the old way", kEncryptedOldStyle},
             {"another curve", kP384},
             {"a curve without its name", kExplicitParameters},
             {"a compressed point", kCompressedPoint},
             {"another number than its public half", damaged},
             {"nothing", ""},
             {"no PEM", "secret"},
             {"cut", fixed.substr(0, 120)},
             {"too large", fixed + std::string(std::size_t{16} * 1024, '\n')},
         }}) {
        const auto key = Key::from_pem(pem);
        ASSERT_FALSE(key) << why;
        EXPECT_EQ(key.error().code, Code::invalid) << why;
        EXPECT_THAT(key.error().what, HasSubstr("P-256")) << why;
        EXPECT_EQ(::ERR_peek_error(), 0U) << why;
    }
}

}  // namespace
}  // namespace kubexm::pki
