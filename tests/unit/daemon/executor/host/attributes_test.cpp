// Owner, mode and extended attributes, by every function that sets them.

#include <grp.h>
#include <linux/capability.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <sched.h>

#include <cstring>
#include <vector>

#include "tests/unit/daemon/executor/host/child.hpp"
#include "tests/unit/daemon/executor/host/scratch.hpp"

namespace kubexm::executor {
namespace {

using ::testing::ElementsAre;

using SetAttributes = FilesTest;
using AttributesOfNewFiles = FilesTest;

constexpr const char* kAcl = "system.posix_acl_access";
constexpr const char* kDefaultAcl = "system.posix_acl_default";
constexpr const char* kCapability = "security.capability";
constexpr std::uint32_t kStranger = 12345;

template <typename T>
std::string bytes_of(const T& value) {
    return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

/// rw for the owner and for one more user, r for the group.
std::string access_list() {
    constexpr auto no_id = static_cast<std::uint32_t>(ACL_UNDEFINED_ID);
    std::string bytes = bytes_of(posix_acl_xattr_header{POSIX_ACL_XATTR_VERSION});
    for (const posix_acl_xattr_entry entry : std::initializer_list<posix_acl_xattr_entry>{
             {ACL_USER_OBJ, ACL_READ | ACL_WRITE, no_id},
             {ACL_USER, ACL_READ | ACL_WRITE, kStranger},
             {ACL_GROUP_OBJ, ACL_READ, no_id},
             {ACL_MASK, ACL_READ | ACL_WRITE, no_id},
             {ACL_OTHER, 0, no_id},
         }) {
        bytes += bytes_of(entry);
    }
    return bytes;
}

std::string bind_service_capability() {
    vfs_cap_data data{};
    data.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE;
    data.data[0].permitted = 1U << CAP_NET_BIND_SERVICE;
    return bytes_of(data);
}

TEST_F(SetAttributes, KeepsEverySpecialBit) {
    put(at("/f"), "x");
    for (const std::uint32_t mode : {04755U, 02755U, 06711U, 01644U, 0U, 07777U}) {
        EXPECT_THAT(set_attributes(root, "/f", own(mode)), IsOk());
        EXPECT_EQ(mode_of(at("/f")), mode);
    }
}

TEST_F(SetAttributes, SetsTheDesiredExtendedAttributesAndRemovesOthers) {
    put(at("/f"), "x");
    set_xattr(at("/f"), "user.kept", "same");
    set_xattr(at("/f"), "user.changed", "before");
    set_xattr(at("/f"), "user.gone", "x");
    set_xattr(at("/f"), kAcl, access_list());
    Attributes wanted = own(0640);
    wanted.xattrs = {
        {"user.kept", "same"}, {"user.changed", "after"}, {"user.new", std::string("\0", 1)}};
    EXPECT_THAT(set_attributes(root, "/f", wanted), IsOk());
    auto state = inspect(root, "/f").value();
    state.xattrs.erase("security.selinux");
    EXPECT_EQ(state.xattrs, wanted.xattrs);
    EXPECT_EQ(state.mode, 0640U);
}

TEST_F(SetAttributes, NamesEachThatFailsAndSetsTheOthers) {
    put(at("/f"), "x");
    ASSERT_EQ(::chmod(at("/f").c_str(), 0777), 0);
    Attributes wanted = own(0600);
    wanted.xattrs = {{"nonsense.a", "1"}, {"system.b", "2"}, {"user.c", "3"}};
    const auto done = set_attributes(root, "/f", wanted);
    EXPECT_THAT(done, IsError(Code::denied, "/f extended attribute nonsense.a: "));
    EXPECT_THAT(done, IsError(Code::denied, "/f extended attribute system.b: "));
    EXPECT_EQ(done.error().what.find("user.c"), std::string::npos);
    EXPECT_EQ(xattr_of(at("/f"), "user.c"), "3");
    EXPECT_EQ(mode_of(at("/f")), 0600U);
}

TEST_F(SetAttributes, OnlyRootMaySetAnotherOwner) {
    put(at("/f"), "x");
    const auto done = set_attributes(root, "/f", {04755, kStranger, kStranger + 1, {}});
    if (is_root()) {
        EXPECT_THAT(done, IsOk());
        EXPECT_EQ(status_of(at("/f")).st_uid, kStranger);
        EXPECT_EQ(status_of(at("/f")).st_gid, kStranger + 1);
    } else {
        EXPECT_THAT(done, IsError(Code::denied, "/f owner 12345:12346: "));
    }
    EXPECT_EQ(mode_of(at("/f")), 04755U);
}

TEST_F(SetAttributes, ALinkIsNotFollowed) {
    put(at("/f"), "x");
    ASSERT_EQ(::chmod(at("/f").c_str(), 0640), 0);
    fs::create_symlink("f", at("/link"));
    const Attributes wanted = is_root() ? Attributes{0, kStranger, kStranger, {}} : own(0);
    EXPECT_THAT(set_attributes(root, "/link", wanted), IsOk());
    EXPECT_EQ(status_of(at("/link")).st_uid, wanted.uid);
    EXPECT_EQ(status_of(at("/f")).st_uid, ::geteuid());
    EXPECT_EQ(mode_of(at("/f")), 0640U);
}

TEST_F(SetAttributes, APipeIsNotOpened) {
    ASSERT_EQ(::mkfifo(at("/pipe").c_str(), 0600), 0);
    EXPECT_THAT(set_attributes(root, "/pipe", own(0622)), IsOk());
    EXPECT_EQ(mode_of(at("/pipe")), 0622U);
}

TEST_F(SetAttributes, AFileWithSeveralHardLinksIsNotChanged) {
    put(scratch.outside() / "canary", "x");
    fs::create_hard_link(scratch.outside() / "canary", at("/f"));
    const auto before = mode_of(at("/f"));
    EXPECT_THAT(set_attributes(root, "/f", own(07777)),
                IsError(Code::conflict, "/f has 2 hard links"));
    EXPECT_EQ(mode_of(scratch.outside() / "canary"), before);
}

TEST_F(SetAttributes, AnAbsentObjectIsNotFound) {
    EXPECT_THAT(set_attributes(root, "/f", own(0600)), IsError(Code::not_found, "/f"));
}

TEST_F(SetAttributes, LabelsOfSecurityModulesStayUnlessDesired) {
    if (!is_root()) GTEST_SKIP() << "only root may write a security label";
    put(at("/f"), "x");
    set_xattr(at("/f"), "security.kubexm-test", "label");
    EXPECT_THAT(set_attributes(root, "/f", own(0600)), IsOk());
    EXPECT_EQ(xattr_of(at("/f"), "security.kubexm-test"), "label");
    Attributes wanted = own(0600);
    wanted.xattrs = {{"security.kubexm-test", "other"}};
    EXPECT_THAT(set_attributes(root, "/f", wanted), IsOk());
    EXPECT_EQ(xattr_of(at("/f"), "security.kubexm-test"), "other");
}

TEST_F(SetAttributes, ABitThatTheKernelDropsIsReported) {
    if (!is_root()) GTEST_SKIP() << "only root may make the file of a group it is not in";
    put(at("/f"), "x");
    ASSERT_EQ(::chown(at("/f").c_str(), kStranger, kStranger + 1), 0);
    EXPECT_TRUE(passes_in_child([this] {
        ASSERT_EQ(::setgroups(0, nullptr), 0);
        ASSERT_EQ(::setresgid(kStranger, kStranger, kStranger), 0);
        ASSERT_EQ(::setresuid(kStranger, kStranger, kStranger), 0);
        EXPECT_THAT(set_attributes(root, "/f", {02750, kStranger, kStranger + 1, {}}),
                    IsError(Code::denied, "mode 2750: the kernel set 0750"));
    }));
}

TEST_F(AttributesOfNewFiles, AreSet) {
    Attributes wanted = own(06751);
    wanted.xattrs = {{"user.color", "blue"}};
    if (is_root()) {
        wanted.uid = kStranger;
        wanted.gid = kStranger + 1;
    }
    ASSERT_THAT(replace_file(root, "/f", "x", wanted), IsOk());
    ASSERT_THAT(make_directory(root, "/d", wanted), IsOk());
    for (const char* path : {"/f", "/d"}) {
        const auto state = inspect(root, path);
        EXPECT_EQ(state->mode, wanted.mode);
        EXPECT_EQ(state->uid, wanted.uid);
        EXPECT_EQ(state->gid, wanted.gid);
        EXPECT_EQ(state->xattrs.at("user.color"), "blue");
    }
}

TEST_F(AttributesOfNewFiles, AnAccessListAgreesWithTheMode) {
    Attributes wanted = own(0660);  // with a list the group bits are its mask
    wanted.xattrs = {{kAcl, access_list()}};
    EXPECT_THAT(replace_file(root, "/f", "x", wanted), IsOk());
    EXPECT_EQ(xattr_of(at("/f"), kAcl), access_list());
    EXPECT_EQ(mode_of(at("/f")), 0660U);
}

TEST_F(AttributesOfNewFiles, AreNotInheritedFromTheDirectory) {
    fs::create_directory(at("/d"));
    set_xattr(at("/d"), kDefaultAcl, access_list());
    ASSERT_EQ(::chmod(at("/d").c_str(), 02770), 0);
    EXPECT_THAT(replace_file(root, "/d/f", "x", own(0644)), IsOk());
    EXPECT_THAT(make_directory(root, "/d/sub", own(0755)), IsOk());
    EXPECT_EQ(xattr_of(at("/d/f"), kAcl), "");
    EXPECT_EQ(mode_of(at("/d/f")), 0644U);
    EXPECT_EQ(xattr_of(at("/d/sub"), kDefaultAcl), "");
    EXPECT_EQ(mode_of(at("/d/sub")), 0755U);
}

TEST_F(AttributesOfNewFiles, OnlyRootMaySetACapability) {
    put(at("/f"), "old");
    Attributes wanted = own(0755);
    wanted.xattrs = {{kCapability, bind_service_capability()}};
    if (is_root()) wanted.uid = kStranger;  // a change of owner clears capabilities
    const auto done = replace_file(root, "/f", "new", wanted);
    if (is_root()) {
        EXPECT_THAT(done, IsOk());
        EXPECT_EQ(xattr_of(at("/f"), kCapability), bind_service_capability());
    } else {
        EXPECT_THAT(done, IsError(Code::denied, "/f extended attribute security.capability: "));
        EXPECT_EQ(content_of(at("/f")), "old");
        EXPECT_THAT(names_in(scratch.inside()), ElementsAre("f"));
    }
}

TEST_F(AttributesOfNewFiles, AFileIsNotReplacedByOneThatLacksAnAttribute) {
    put(at("/f"), "old");
    Attributes wanted = own(0600);
    wanted.xattrs = {{"system.nonsense", "x"}};
    EXPECT_THAT(replace_file(root, "/f", "new", wanted), IsError(Code::denied, "system.nonsense"));
    EXPECT_THAT(replace_symlink(root, "/f", "new", wanted),
                IsError(Code::denied, "system.nonsense"));
    EXPECT_EQ(content_of(at("/f")), "old");
    EXPECT_THAT(names_in(scratch.inside()), ElementsAre("f"));
}

TEST_F(AttributesOfNewFiles, AnInspectedStateCanBeRestored) {
    Attributes odd = own(04660);
    odd.xattrs = {{kAcl, access_list()}, {"user.color", "blue"}};
    if (is_root()) {
        odd.uid = kStranger;
        odd.gid = kStranger + 1;
        odd.xattrs[kCapability] = bind_service_capability();
        odd.xattrs["trusted.origin"] = "somewhere";
    }
    ASSERT_THAT(replace_file(root, "/f", "before", odd), IsOk());
    const auto before = inspect_content(root, "/f", ample()).value();
    ASSERT_THAT(replace_file(root, "/f", "ours", own(0600)), IsOk());
    ASSERT_THAT(
        replace_file(root, "/f", "before", {before.mode, before.uid, before.gid, before.xattrs}),
        IsOk());
    EXPECT_EQ(inspect_content(root, "/f", ample()).value(), before);
    EXPECT_GE(before.xattrs.size(), odd.xattrs.size());
}

}  // namespace
}  // namespace kubexm::executor
