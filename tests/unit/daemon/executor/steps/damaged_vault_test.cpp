#include <gtest/gtest.h>

#include "../host/systemd_test.hpp"
#include "daemon/executor/steps/steps.hpp"

namespace kubexm::executor {
namespace {

class DamagedVault : public SystemdTest {
protected:
    DamagedVault() {
        fs::create_directory(scratch_.at("/etc"));
        std::ofstream(scratch_.at("/etc/theirs")) << "precious";
    }
    Result<> capture_theirs() {
        Context context{root_, systemd, vault_, soon(), {}};
        auto captured = capture(context, model::AbsentPath{"/etc/theirs"});
        return captured ? Result<>() : std::unexpected(captured.error());
    }

    Scratch scratch_;
    Root root_ = scratch_.root();
    fs::path content_ = scratch_.top() / "vault";
    Vault vault_ = Vault::open(content_).value();
};

TEST_F(DamagedVault, IsMendedFromTheFileThatIsStillThere) {
    ASSERT_THAT(capture_theirs(), IsOk());
    const fs::path blob = *fs::directory_iterator(content_);
    std::ofstream(blob) << "rubbish";
    ASSERT_THAT(vault_.open_blob(blob.filename().string()), IsError(Code::corrupt, ""));
    ASSERT_THAT(capture_theirs(), IsOk());
    EXPECT_THAT(vault_.open_blob(blob.filename().string()), IsOk());
}

}  // namespace
}  // namespace kubexm::executor
