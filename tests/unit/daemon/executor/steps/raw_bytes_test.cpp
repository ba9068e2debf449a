#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../host/path_units.hpp"
#include "../host/systemd_test.hpp"
#include "daemon/executor/steps/steps.hpp"

namespace kubexm::executor {
namespace {

const std::string kLatin1 = "caf\xe9";  // not UTF-8, as old archives unpack it
const std::string kBroken = "\xff\xc0\x80\xed\xa0\x80";

/// Strings of a host are bytes: the ledger must return them unchanged.
class RawBytes : public SystemdTest {
protected:
    RawBytes() { have_units(fake, "Where", {}); }
    Context context() { return {root_, systemd, vault_, soon(), {}}; }
    fs::path at(const std::string& path) const { return scratch_.at(path); }

    /// The pre-image as undo finds it after a restart.
    PreImage recorded(const model::Step& step) {
        Context working = context();
        auto image = capture(working, step);
        EXPECT_THAT(image, IsOk());
        auto read = image_from_json(to_json(*image));
        EXPECT_THAT(read, IsOk());
        EXPECT_EQ(*read, *image);
        return *read;
    }
    void undo(const model::Step& step, const PreImage& before) {
        Context working = context();
        EXPECT_THAT(executor::undo(working, step, before), IsOk());
    }

    Scratch scratch_;
    Root root_ = scratch_.root();
    Vault vault_ = Vault::open(scratch_.top() / "vault").value();
};

TEST_F(RawBytes, AreNamesInAClaimedDirectory) {
    fs::create_directory(at("/claimed"));
    put(at("/claimed/" + kLatin1), "theirs");
    put(at("/claimed/" + kBroken), "theirs");
    const model::Claim step{"/claimed", {}};
    const PreImage before = recorded(step);
    put(at("/claimed/new" + kBroken), "ours");
    undo(step, before);
    EXPECT_EQ(names_in(at("/claimed")), (std::set<std::string>{kLatin1, kBroken}));
}

TEST_F(RawBytes, AreTheTargetOfALink) {
    const std::string target(
        4000,
        '\xe9');  // its hexadecimal form is longer than a string in a plan may be
    for (const std::string& bytes : {kLatin1, kBroken, target}) {
        fs::remove(at("/link"));
        fs::create_symlink(bytes, at("/link"));
        const model::AbsentPath step{"/link"};
        const PreImage before = recorded(step);
        Context working = context();
        EXPECT_THAT(apply(working, step), IsOk());
        undo(step, before);
        EXPECT_EQ(fs::read_symlink(at("/link")).string(), bytes);
    }
}

TEST_F(RawBytes, AreTheNameOfAnExtendedAttribute) {
    put(at("/file"), "theirs");
    const std::string name = "user." + kLatin1;
    set_xattr(at("/file"), name.c_str(), "value");
    const model::AbsentPath step{"/file"};
    const PreImage before = recorded(step);
    Context working = context();
    EXPECT_THAT(apply(working, step), IsOk());
    undo(step, before);
    EXPECT_EQ(content_of(at("/file")), "theirs");
    EXPECT_EQ(xattr_of(at("/file"), name.c_str()), "value");
}

TEST(Images, WhoseHexadecimalIsBrokenAreCorrupt) {
    for (const char* hex : {"f", "fg", "+f", " f", "FF"}) {
        const std::string text =
            std::string(R"({"type":"side-effects","before":[{"hex":")") + hex + "\"}]}";
        EXPECT_THAT(image_from_json(text), IsError(Code::corrupt, "hexadecimal")) << hex;
    }
}

TEST(Images, KeepTextReadable) {
    EXPECT_EQ(to_json(SideEffectsPreImage{{"café", "hex"}}),
              R"({"before":["café","hex"],"type":"side-effects"})");
}

}  // namespace
}  // namespace kubexm::executor
