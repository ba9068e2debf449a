#include "systemd_test.hpp"

namespace kubexm::executor {
namespace {

using SystemdLinks = SystemdTest;
using testing::ElementsAre;

TEST_F(SystemdLinks, AreChangedPersistentlyWithoutForceAndReloaded) {
    EXPECT_THAT(systemd.enable("a.service", soon()), IsOk());
    EXPECT_THAT(systemd.disable("a.service", soon()), IsOk());
    EXPECT_THAT(systemd.mask("a.service", soon()), IsOk());
    EXPECT_THAT(systemd.unmask("a.service", soon()), IsOk());
    EXPECT_THAT(fake.calls_of_interest(),
                ElementsAre("EnableUnitFiles([a.service], 0, 0)", "Reload()",  //
                            "DisableUnitFiles([a.service], 0)", "Reload()",    //
                            "MaskUnitFiles([a.service], 0, 0)", "Reload()",    //
                            "UnmaskUnitFiles([a.service], 1)", "UnmaskUnitFiles([a.service], 0)",
                            "Reload()"));
}

TEST_F(SystemdLinks, AreRemovedWithoutAReload) {
    EXPECT_THAT(systemd.remove_links("a.service", soon()), IsOk());
    EXPECT_THAT(fake.calls_of_interest(), ElementsAre("DisableUnitFiles([a.service], 0)"));
    fake.when("DisableUnitFiles", refusal(SD_BUS_ERROR_ACCESS_DENIED));
    EXPECT_THAT(systemd.remove_links("a.service", soon()),
                IsError(Code::denied, "DisableUnitFiles a.service"));
}

TEST_F(SystemdLinks, CannotBeMadeToAUnitWithoutAnInstallSection) {
    fake.when("EnableUnitFiles",
              [](Peer& peer, sd_bus_message* call) { peer.reply(call, "ba(sss)", 0, 0); });
    EXPECT_THAT(systemd.enable("a.service", soon()), IsError(Code::invalid, "[Install]"));
    EXPECT_THAT(fake.calls_of_interest(), ElementsAre("EnableUnitFiles([a.service], 0, 0)"));
}

TEST_F(SystemdLinks, ThatSystemdRefusesAreAnError) {
    fake.when("MaskUnitFiles", refusal(SD_BUS_ERROR_FILE_EXISTS));
    EXPECT_THAT(systemd.mask("a.service", soon()),
                IsError(Code::conflict, "MaskUnitFiles a.service"));
    fake.when("Reload", refusal(SD_BUS_ERROR_ACCESS_DENIED));
    EXPECT_THAT(systemd.enable("a.service", soon()),
                IsError(Code::denied, "EnableUnitFiles a.service"));
    EXPECT_THAT(systemd.reload(soon()), IsError(Code::denied, "reloading systemd"));
}

TEST_F(SystemdLinks, AreAnErrorWhereTheReplyHasOtherTypes) {
    fake.when("DisableUnitFiles",
              [](Peer& peer, sd_bus_message* call) { peer.reply(call, "b", 1); });
    EXPECT_THAT(systemd.disable("a.service", soon()), IsError(Code::internal, "a(sss)"));
    fake.when("EnableUnitFiles",
              [](Peer& peer, sd_bus_message* call) { peer.reply(call, "a(sss)", 0); });
    EXPECT_THAT(systemd.enable("a.service", soon()), IsError(Code::internal, "expected \"b\""));
}

TEST_F(SystemdLinks, AreAnErrorWhereTheirDirectoryCannotBeSynced) {
    const std::string no_directory = fake.directory() / "wants";
    put(no_directory, "a file");
    fake.when("MaskUnitFiles", [=](Peer& peer, sd_bus_message* call) {
        peer.reply(call, "a(sss)", 1, "symlink", (no_directory + "/a.service").c_str(), "/x");
    });
    EXPECT_THAT(systemd.mask("a.service", soon()), IsError(Code::not_found, no_directory));
}

}  // namespace
}  // namespace kubexm::executor
