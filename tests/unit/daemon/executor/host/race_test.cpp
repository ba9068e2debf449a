// A process that may write below the root swaps objects for links to the outside while we work.

#include <fcntl.h>

#include <functional>
#include <thread>

#include "daemon/base/digest.hpp"
#include "tests/unit/daemon/executor/host/canaries.hpp"
#include "tests/unit/daemon/executor/host/child.hpp"
#include "tests/unit/daemon/executor/host/scratch.hpp"

namespace kubexm::executor {
namespace {

constexpr int kMinRounds = 3000;
constexpr int kMaxRounds = 60000;
constexpr int kMinOutcomes = 20;

void exchange(const fs::path& one, const fs::path& other, int times) {
    for (int i = 0; i < times; ++i) {
        ::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE);
    }
}

void create(const fs::path& path) {
    const Fd file{::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)};
    EXPECT_EQ(::write(file.get(), "inside", file ? 6 : 0), file ? 6 : -1);
}

void clear(const fs::path& path) {
    std::error_code raced;
    fs::remove_all(path, raced);
}

using Interference = std::function<void()>;      // repeated in another thread
using Round = std::function<bool(const Root&)>;  // our operation; true: success

class Races : public FilesInMemoryTest {
protected:
    void make_outside() const {
        fs::create_directories(scratch.outside() / "in");
        put(scratch.outside() / "in/file", "outside");
        fs::create_directories(scratch.outside() / "tree/sub");
        put(scratch.outside() / "tree/sub/file", "outside");
        put(scratch.outside() / "file", "outside");
    }

    /// Until there were enough successes and refusals to prove that the race took place.
    void run(const Interference& attack, const Round& round, int min_refusals) const {
        in_memory([&](const Root& memory) {
            make_outside();
            attack();
            const auto before = canaries(scratch.outside());
            int outcomes[2] = {0, 0};
            {
                std::jthread attacker([&attack](const std::stop_token& stop) {
                    while (!stop.stop_requested()) attack();
                });
                for (int i = 0; i < kMaxRounds; ++i) {
                    ++outcomes[round(memory) ? 1 : 0];
                    const bool enough = outcomes[0] >= min_refusals && outcomes[1] >= kMinOutcomes;
                    if (i >= kMinRounds && enough) break;
                }
            }
            EXPECT_GE(outcomes[0], min_refusals);
            EXPECT_GE(outcomes[1], kMinOutcomes);
            EXPECT_EQ(canaries(scratch.outside()), before);
        });
    }

    /// A directory on the way to the object is swapped.
    void run_on_the_way(const Round& round) const {
        const auto attack = [this] {
            if (!fs::exists(at("/real"))) {
                fs::create_directories(at("/real/in"));
                create(at("/real/in/file"));
                fs::create_symlink(scratch.outside(), at("/link"));
            }
            exchange(at("/real"), at("/link"), 1000);
        };
        run(attack, round, kMinOutcomes);
    }

    /// The object itself is swapped for a link to a file outside.
    void run_at_the_leaf(const Round& round, int min_refusals) const {
        const auto attack = [this] {
            clear(at("/leaf"));
            clear(at("/link"));
            create(at("/leaf"));
            ::symlink((scratch.outside() / "file").c_str(), at("/link").c_str());
            exchange(at("/leaf"), at("/link"), 9);
        };
        run(attack, round, min_refusals);
    }

    void make_tree(const std::string& path) const {
        ::mkdir(at(path).c_str(), 0700);
        ::mkdir(at(path + "/sub").c_str(), 0700);
        const Fd file{::open(at(path + "/sub/file").c_str(), O_CREAT | O_EXCL | O_WRONLY, 0600)};
    }
};

TEST_F(Races, OnTheWayToAReplacedFile) {
    run_on_the_way([](const Root& memory) {
        return replace_file(memory, "/real/in/file", "new", own(0777)).has_value();
    });
}

TEST_F(Races, OnTheWayToAReplacedLink) {
    run_on_the_way([](const Root& memory) {
        return replace_symlink(memory, "/real/in/new", "x", own(0)).has_value();
    });
}

TEST_F(Races, OnTheWayToAttributes) {
    run_on_the_way([](const Root& memory) {
        return set_attributes(memory, "/real/in/file", own(0777)).has_value();
    });
}

TEST_F(Races, OnTheWayToAFileThatIsRead) {
    run_on_the_way([](const Root& memory) {
        const auto content = read_file(memory, "/real/in/file", 100);
        EXPECT_NE(content.value_or(""), "outside");
        const auto state = inspect_content(memory, "/real/in/file", ample());
        EXPECT_NE(state.value_or(PathState{}).digest, sha256("outside"));
        return content.has_value();
    });
}

TEST_F(Races, OnTheWayToADirectoryThatIsMadeAndRemoved) {
    run_on_the_way([](const Root& memory) {
        const bool made = make_directory(memory, "/real/in/new", own(0777)).has_value();
        return remove_path(memory, "/real/in/new").has_value() && made;
    });
}

TEST_F(Races, OnTheWayToADeletedTree) {
    run_on_the_way([](const Root& memory) {
        const bool made = make_directory(memory, "/real/in/tree", own(0777)).has_value();
        return delete_tree(memory, "/real/in/tree").has_value() && made;
    });
}

TEST_F(Races, AtAFileThatIsReplaced) {
    run_at_the_leaf(
        [](const Root& memory) {
            return replace_file(memory, "/leaf", "new", own(0777)).has_value();
        },
        0);
}

TEST_F(Races, AtAFileThatGetsAttributes) {
    run_at_the_leaf(
        [](const Root& memory) { return set_attributes(memory, "/leaf", own(0777)).has_value(); },
        0);
}

TEST_F(Races, AtAFileThatIsRead) {
    run_at_the_leaf(
        [](const Root& memory) {
            const auto content = read_file(memory, "/leaf", 100);
            EXPECT_NE(content.value_or(""), "outside");
            const auto state = inspect_content(memory, "/leaf", ample());
            EXPECT_NE(state.value_or(PathState{}).digest, sha256("outside"));
            return content.has_value();
        },
        kMinOutcomes);
}

TEST_F(Races, AtTheTopOfADeletedTree) {
    const auto attack = [this] {
        clear(at("/top"));
        clear(at("/link"));
        make_tree("/top");
        ::symlink((scratch.outside() / "tree").c_str(), at("/link").c_str());
        exchange(at("/top"), at("/link"), 9);
    };
    run(
        attack, [](const Root& memory) { return delete_tree(memory, "/top").has_value(); },
        kMinOutcomes);
}

TEST_F(Races, InsideADeletedTree) {
    const auto attack = [this] {
        clear(at("/top"));
        make_tree("/top");
        ::symlink((scratch.outside() / "tree/sub").c_str(), at("/top/link").c_str());
        exchange(at("/top/sub"), at("/top/link"), 9);
    };
    run(attack, [](const Root& memory) { return delete_tree(memory, "/top").has_value(); }, 0);
}

}  // namespace
}  // namespace kubexm::executor
