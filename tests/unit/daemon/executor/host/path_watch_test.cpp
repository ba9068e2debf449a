#include "daemon/executor/host/path_watch.hpp"

#include "scratch.hpp"

namespace kubexm::executor {
namespace {

class PathWatchTest : public FilesTest {
protected:
    PathWatchTest() {
        fs::create_directories(at("/etc/kubernetes/pki"));
        put(at("/etc/kubernetes/pki/ca.crt"), "a");
    }
    bool watch_again() { return watch.watch({"/etc/kubernetes/pki/ca.crt", "/etc/hosts"}).value(); }
    bool changed() { return watch.changed().value(); }

    PathWatch watch = PathWatch::create(root).value();
};

TEST_F(PathWatchTest, SaysWhetherADirectoryIsNewToIt) {
    EXPECT_TRUE(watch_again());
    EXPECT_FALSE(watch_again());
    EXPECT_FALSE(changed());
}

TEST_F(PathWatchTest, SeesWhatHappensToAFile) {
    watch_again();
    const auto file = at("/etc/kubernetes/pki/ca.crt");
    put(file, "b");
    EXPECT_TRUE(changed());
    fs::permissions(file, fs::perms::owner_read);
    EXPECT_TRUE(changed());
    put(at("/etc/kubernetes/pki/new"), "c");
    EXPECT_FALSE(changed());
    fs::rename(at("/etc/kubernetes/pki/new"), file);
    EXPECT_TRUE(changed());
    fs::resize_file(file, 0);
    EXPECT_TRUE(changed());
    fs::remove(file);
    EXPECT_TRUE(changed());
    fs::create_symlink("elsewhere", file);
    EXPECT_TRUE(changed());
    EXPECT_FALSE(changed());
}

TEST_F(PathWatchTest, SeesAFileThatDoesNotExistYet) {
    watch_again();
    put(at("/etc/hosts"), "127.0.0.1 localhost");
    EXPECT_TRUE(changed());
}

TEST_F(PathWatchTest, IgnoresWhatIsBeside) {
    watch_again();
    put(at("/etc/passwd"), "root");
    fs::create_directory(at("/etc/kubernetes/manifests"));
    fs::remove(at("/etc/passwd"));
    EXPECT_FALSE(changed());
}

TEST_F(PathWatchTest, SeesAParentThatGoesAndComesBack) {
    watch_again();
    fs::rename(at("/etc/kubernetes"), at("/etc/away"));
    EXPECT_TRUE(changed());
    EXPECT_FALSE(watch_again());
    fs::create_directories(at("/etc/kubernetes/pki"));
    EXPECT_TRUE(changed());
    EXPECT_TRUE(watch_again());
    put(at("/etc/kubernetes/pki/ca.crt"), "b");
    EXPECT_TRUE(changed());
}

TEST_F(PathWatchTest, ForgetsAPathThatIsNotAskedForAgain) {
    watch_again();
    EXPECT_FALSE(watch.watch({"/etc/hosts"}).value());
    put(at("/etc/kubernetes/pki/ca.crt"), "b");
    EXPECT_FALSE(changed());
}

}  // namespace
}  // namespace kubexm::executor
