// Every change, interrupted by SIGKILL at each of its crash points: the state is consistent, and
// the repeated change converges without leftovers.

#include <sys/mman.h>

#include <algorithm>

#include "daemon/base/digest.hpp"
#include "tests/unit/crash_child.hpp"
#include "tests/unit/daemon/executor/host/scratch.hpp"

namespace kubexm::executor {
namespace {

using ::testing::ElementsAre;

/// Everything below a root by its path.
using Tree = std::map<std::string, PathState>;

struct Change {
    std::string name;
    void (*prepare)(const Scratch& scratch);
    Result<> (*apply)(const Root& root);
    /// Whether a state is allowed between those before and after the change.
    bool (*allowed)(const Tree& now, const Tree& before, const Tree& after);
};

std::ostream& operator<<(std::ostream& out, const Change& change) { return out << change.name; }

bool is_temporary(const std::string& path) { return path.starts_with("/.kubexm-"); }

Tree tree_of(const Scratch& scratch) {
    Tree tree;
    const Root root = scratch.root();
    for (const auto& entry : fs::recursive_directory_iterator(scratch.inside())) {
        const std::string path = "/" + entry.path().lexically_relative(scratch.inside()).string();
        tree[path] = inspect_content(root, path, ample()).value();
    }
    return tree;
}

Attributes wanted(std::uint32_t mode) {
    Attributes attributes = own(mode);
    attributes.xattrs = {{"user.color", "blue"}};
    if (is_root()) attributes.uid = attributes.gid = 12345;
    return attributes;
}

void nothing(const Scratch&) {}
void old_file(const Scratch& scratch) {
    put(scratch.at("/f"), "old");
    set_xattr(scratch.at("/f"), "user.color", "red");
}
void old_link(const Scratch& scratch) { fs::create_symlink("old", scratch.at("/f")); }
void old_directory(const Scratch& scratch) {
    fs::create_directory(scratch.at("/f"));
    put(scratch.at("/f/child"), "x");
}
void old_tree(const Scratch& scratch) {
    fs::create_directories(scratch.at("/f/a/b"));
    put(scratch.at("/f/one"), "1");
    put(scratch.at("/f/a/two"), "2");
    fs::create_symlink("two", scratch.at("/f/a/link"));
}

Result<> new_file(const Root& root) { return replace_file(root, "/f", "new", wanted(04755)); }
Result<> new_large_file(const Root& root) {
    const std::string content(600000, 'n');  // takes several writes
    const Fd source{::memfd_create("content", MFD_CLOEXEC)};
    const ssize_t written = ::pwrite(source.get(), content.data(), content.size(), 0);
    if (written < 0) return from_errno("write", "content");
    return replace_file_from(root, "/f", source.get(), sha256(content), ample(), wanted(0644));
}
Result<> new_link(const Root& root) {
    Attributes attributes = wanted(0);
    attributes.xattrs.clear();  // a link cannot have user.*
    return replace_symlink(root, "/f", "new", attributes);
}
Result<> new_directory(const Root& root) { return make_directory(root, "/f", wanted(0755)); }
Result<> new_attributes(const Root& root) { return set_attributes(root, "/f", wanted(06750)); }
Result<> removed(const Root& root) { return remove_path(root, "/f"); }
Result<> deleted(const Root& root) { return delete_tree(root, "/f"); }

bool old_or_new(const Tree& now, const Tree& before, const Tree& after) {
    return now == before || now == after;
}
bool with_the_same_content(const Tree& now, const Tree& before, const Tree&) {
    return now.at("/f").kind == before.at("/f").kind &&
           now.at("/f").digest == before.at("/f").digest;
}
bool closed_until_it_is_ready(const Tree& now, const Tree& before, const Tree& after) {
    return now == before || now == after || now.at("/f").mode == 0700;
}
bool a_part_of_the_old(const Tree& now, const Tree& before, const Tree&) {
    return std::ranges::all_of(now, [&before](const auto& object) {
        return before.contains(object.first) && before.at(object.first).kind == object.second.kind;
    });
}

class Crash : public ::testing::TestWithParam<Change> {
protected:
    static Tree tree_before() {
        const Scratch scratch;
        GetParam().prepare(scratch);
        return tree_of(scratch);
    }
    static Tree tree_after() {
        const Scratch scratch;
        GetParam().prepare(scratch);
        EXPECT_THAT(GetParam().apply(scratch.root()), IsOk());
        return tree_of(scratch);
    }
    static std::vector<crash::CrashPoint> points() {
        const Scratch scratch;
        GetParam().prepare(scratch);
        return crash::crash_points_of([&scratch] { (void)GetParam().apply(scratch.root()); });
    }
    static void die(const crash::CrashPoint& point, const Scratch& scratch) {
        GetParam().prepare(scratch);
        EXPECT_TRUE(crash::dies_at(point, [&scratch] { (void)GetParam().apply(scratch.root()); }));
    }
};

TEST_P(Crash, LeavesAConsistentState) {
    const Tree before = tree_before();
    const Tree after = tree_after();
    for (const auto& point : points()) {
        const Scratch scratch;
        die(point, scratch);
        EXPECT_THAT(remove_leftovers(scratch.root(), "/f"), IsOk());
        EXPECT_TRUE(GetParam().allowed(tree_of(scratch), before, after)) << point;
    }
}

TEST_P(Crash, IsRepairedByRepeatingTheChange) {
    const Tree after = tree_after();
    ASSERT_FALSE(points().empty());
    for (const auto& point : points()) {
        const Scratch scratch;
        die(point, scratch);
        EXPECT_THAT(GetParam().apply(scratch.root()), IsOk()) << point;
        EXPECT_EQ(tree_of(scratch), after) << point;
    }
}

using CrashWithATemporary = Crash;

TEST_P(CrashWithATemporary, NeverShowsAnIncompleteFileToOthers) {
    const std::string complete = tree_after().at("/f").digest;
    int incomplete = 0;
    for (const auto& point : points()) {
        const Scratch scratch;
        die(point, scratch);
        for (const auto& [path, state] : tree_of(scratch)) {
            if (!is_temporary(path) || state.digest == complete) continue;
            EXPECT_EQ(state.mode, 0600U) << point;
            ++incomplete;
        }
    }
    EXPECT_GT(incomplete, 0);
}

const Change kReplaceAFile{"ReplaceAFile", old_file, new_file, old_or_new};
const Change kReplaceFromDescriptor{"ReplaceFromDescriptor", old_file, new_large_file, old_or_new};
const Change kChanges[] = {
    kReplaceAFile,
    {"ReplaceALink", old_link, new_file, old_or_new},
    {"MakeAFile", nothing, new_file, old_or_new},
    kReplaceFromDescriptor,
    {"MakeALink", nothing, new_link, old_or_new},
    {"ReplaceALinkByALink", old_link, new_link, old_or_new},
    {"ReplaceAFileByALink", old_file, new_link, old_or_new},
    {"MakeADirectory", nothing, new_directory, closed_until_it_is_ready},
    {"SetAttributesOfAFile", old_file, new_attributes, with_the_same_content},
    {"SetAttributesOfADirectory", old_directory, new_attributes, with_the_same_content},
    {"RemoveAFile", old_file, removed, old_or_new},
    {"RemoveALink", old_link, removed, old_or_new},
    {"DeleteATree", old_tree, deleted, a_part_of_the_old},
};

std::string name_of_change(const ::testing::TestParamInfo<Change>& change) {
    return change.param.name;
}

INSTANTIATE_TEST_SUITE_P(Of, Crash, ::testing::ValuesIn(kChanges), name_of_change);
INSTANTIATE_TEST_SUITE_P(Of, CrashWithATemporary,
                         ::testing::Values(kReplaceAFile, kReplaceFromDescriptor), name_of_change);

TEST(CrashPoints, OfAReplacementSyncTheFileBeforeItsRenameAndTheDirectoryAfterIt) {
    const Scratch scratch;
    old_file(scratch);
    Attributes attributes = own(0644);
    attributes.xattrs = {{"user.color", "blue"}};
    std::vector<std::string> names;
    for (const auto& point : crash::crash_points_of(
             [&] { EXPECT_THAT(replace_file(scratch.root(), "/f", "new", attributes), IsOk()); })) {
        names.push_back(point.name);
    }
    EXPECT_THAT(names, ElementsAre("file.unlink.before", "file.unlink.after",  // an older leftover
                                   "file.create.before", "file.create.after",  //
                                   "file.write.before", "file.write.after",    //
                                   "file.xattr.before", "file.xattr.after",    //
                                   "file.chmod.before", "file.chmod.after",    //
                                   "file.fsync.before", "file.fsync.after",    //
                                   "file.rename.before", "file.rename.after",  //
                                   "dir.fsync.before", "dir.fsync.after"));
}

}  // namespace
}  // namespace kubexm::executor
