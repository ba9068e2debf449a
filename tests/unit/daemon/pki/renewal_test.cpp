#include "daemon/pki/renewal.hpp"

#include <gtest/gtest.h>

#include <set>

namespace kubexm::pki {
namespace {

using namespace std::chrono_literals;
using std::chrono::sys_seconds;

constexpr sys_seconds kBegin{1'800'000'000s};

Certificate certificate_of(std::chrono::seconds life, const std::string& serial = "01") {
    Certificate certificate;
    certificate.serial = serial;
    certificate.not_before = kBegin;
    certificate.not_after = kBegin + life;
    return certificate;
}

TEST(RenewalTime, IsSpreadOverTheFleet) {
    std::set<sys_seconds> times;
    for (int host = 0; host < 1000; ++host) {
        const auto time = renewal_time(certificate_of(1000h), "host-" + std::to_string(host));
        EXPECT_GE(time, kBegin + 700h);
        EXPECT_LT(time, kBegin + 900h);
        times.insert(time);
    }
    EXPECT_LT(*times.begin(), kBegin + 710h);
    EXPECT_GT(*times.rbegin(), kBegin + 890h);
    EXPECT_GT(times.size(), 990U);
}

TEST(RenewalTime, IsTheSameAfterARestartAndAnotherForTheNextCertificate) {
    const auto time = renewal_time(certificate_of(1000h), "h1");
    EXPECT_EQ(renewal_time(certificate_of(1000h), "h1"), time);
    EXPECT_NE(renewal_time(certificate_of(1000h, "02"), "h1"), time);
}

TEST(RenewalTime, LeavesTenMinutesWhereTheLifeIsLongEnough) {
    for (int host = 0; host < 100; ++host) {
        const std::string name = std::to_string(host);
        EXPECT_LE(renewal_time(certificate_of(1h), name), kBegin + 50min);
        EXPECT_EQ(renewal_time(certificate_of(20min), name), kBegin + 14min);
    }
}

TEST(LifeLeft, IsAPartOfTheLife) {
    EXPECT_DOUBLE_EQ(life_left(certificate_of(100h), kBegin), 1);
    EXPECT_DOUBLE_EQ(life_left(certificate_of(100h), kBegin + 80h), 0.2);
    EXPECT_DOUBLE_EQ(life_left(certificate_of(100h), kBegin + 200h), 0);
    EXPECT_DOUBLE_EQ(life_left(certificate_of(0h), kBegin), 0);
}

}  // namespace
}  // namespace kubexm::pki
