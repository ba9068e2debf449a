#include "daemon/executor/host/tree.hpp"

#include <functional>

#include "tests/unit/daemon/executor/host/scratch.hpp"

namespace kubexm::executor {
namespace {

using Walk = FilesTest;

/// Directories below each other, from the top down.
std::string nested(const std::string& top, int depth) {
    std::string path = top;
    for (int i = 0; i < depth; ++i) path += "/d";
    return path;
}

/// Runs an action once, at the bottom of the tree, and records the directories that it left.
class Visitor : public TreeWalk {
public:
    explicit Visitor(std::function<void()> at_the_bottom)
        : at_the_bottom_(std::move(at_the_bottom)) {}

    std::vector<std::string> left;

protected:
    Result<bool> visit(const std::string& name) override { return identify(name)->directory; }
    Result<bool> leave(const std::string& name) override {
        if (left.empty()) at_the_bottom_();
        left.push_back(path_of(name));
        return true;
    }

private:
    std::function<void()> at_the_bottom_;
};

TEST_F(Walk, ReopensDirectoriesOnTheWayUp) {
    fs::create_directories(at(nested("/t", 40)));
    Visitor visitor([] {});
    EXPECT_THAT(visitor.run(find_place(root, "/t").value()), IsOk());
    ASSERT_EQ(visitor.left.size(), 41U);
    EXPECT_EQ(visitor.left.front(), nested("/t", 40));
    EXPECT_EQ(visitor.left.back(), "/t");
}

TEST_F(Walk, StopsWhereADirectoryWasMoved) {
    const std::string middle = nested("/t", 10);
    fs::create_directories(at(nested(middle, 30)));
    Visitor visitor([this, &middle] { fs::rename(at(middle), scratch.outside() / "d"); });
    EXPECT_THAT(visitor.run(find_place(root, "/t").value()),
                IsError(Code::conflict, middle + " was moved"));
    EXPECT_EQ(visitor.left.back(), middle + "/d");
}

TEST_F(Walk, ContinuesWhereAMovedDirectoryIsStillOpen) {
    fs::create_directories(at("/t/a/b"));
    Visitor visitor([this] { fs::rename(at("/t/a"), scratch.outside() / "a"); });
    EXPECT_THAT(visitor.run(find_place(root, "/t").value()), IsOk());
    EXPECT_THAT(visitor.left, ::testing::ElementsAre("/t/a/b", "/t/a", "/t"));
}

}  // namespace
}  // namespace kubexm::executor
