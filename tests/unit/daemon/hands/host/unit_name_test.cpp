#include "daemon/hands/host/unit_name.hpp"

#include "scratch.hpp"

namespace kubexm::hands {
namespace {

TEST(UnitName, IsGoodInSystemdsGrammar) {
    for (const char* name :
         {"kubelet.service", "a.b.mount", "getty@tty1.service", "-.mount", "x@y@z.socket",
          "var-lib-kubelet.mount", R"(dev-disk-by\x2duuid-1.swap)", "A:B_c.timer"}) {
        EXPECT_THAT(check_unit_name(name), IsOk()) << name;
    }
    EXPECT_THAT(check_unit_name(std::string(247, 'a') + ".service"), IsOk());
}

struct Bad {
    std::string name;
    std::string expected;
};

TEST(UnitName, IsBadOtherwiseAndSaysWhy) {
    const std::vector<Bad> bad = {
        {"", "a type"},
        {"kubelet", "a type"},
        {"kubelet.", "a type"},
        {"kubelet.conf", "a type"},
        {"kubelet.Service", "a type"},
        {"kubelet.service.d/x", "a type"},
        {".service", "a name before the type"},
        {"@.service", "a name before the @"},
        {"@a.service", "a name before the @"},
        {"getty@.service", "an instance"},
        {"/etc/passwd.service", "only letters"},
        {"../kubelet.service", "only letters"},
        {"kube let.service", "only letters"},
        {"kubelet*.service", "only letters"},
        {"k\xc3\xbc.service", "only letters"},
        {std::string("a\0b.service", 11), "only letters"},
        {"a\nb.service", R"("a\nb.service")"},
        {std::string(248, 'a') + ".service", "at most 255"},
    };
    for (const auto& [name, expected] : bad) {
        EXPECT_THAT(check_unit_name(name), IsError(Code::invalid, expected)) << name;
    }
}

}  // namespace
}  // namespace kubexm::hands
