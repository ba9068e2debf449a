// The attacks of race_test.cpp, deterministic: once before every system call of ours, and reverted
// before each of the following ones.

#include <fcntl.h>

#include "daemon/base/digest.hpp"
#include "tests/unit/daemon/executor/host/canaries.hpp"
#include "tests/unit/daemon/executor/host/child.hpp"
#include "tests/unit/daemon/executor/host/scratch.hpp"
#include "tests/unit/daemon/executor/host/system_call_steps.hpp"

namespace kubexm::executor {
namespace {

struct Operation {
    const char* name;
    void (*run)(const Root& root);
};

std::ostream& operator<<(std::ostream& out, const Operation& operation) {
    return out << operation.name;
}

/// In such a race any result is right that does not touch the outside.
template <typename T>
void accept(const Result<T>&) {}

// All of them access /a/b/x; outside has the same names.
const Operation kOperations[] = {
    {"Inspect",
     [](const Root& root) {
         const auto state = inspect_content(root, "/a/b/x", ample());
         EXPECT_NE(state.value_or(PathState{}).digest, sha256("outside"));
     }},
    {"ReadFile",
     [](const Root& root) { EXPECT_NE(read_file(root, "/a/b/x", 99).value_or(""), "outside"); }},
    {"ListDirectory",
     [](const Root& root) {
         const auto names = list_directory(root, "/a/b", 99);
         EXPECT_THAT(names.value_or(std::vector<std::string>{}),
                     ::testing::Not(::testing::Contains("canary")));
     }},
    {"ReplaceFile",
     [](const Root& root) { accept(replace_file(root, "/a/b/x", "new", own(0777))); }},
    {"ReplaceSymlink",
     [](const Root& root) { accept(replace_symlink(root, "/a/b/x", "new", own(0777))); }},
    {"MakeDirectory",
     [](const Root& root) {
         accept(make_directory(root, "/a/b/new", own(0777)));
         accept(make_directory(root, "/a/b/sub", own(0777)));
     }},
    {"SetAttributes",
     [](const Root& root) {
         Attributes attributes = own(0777);
         attributes.xattrs = {{"user.color", "blue"}};
         accept(set_attributes(root, "/a/b/x", attributes));
     }},
    {"RemovePath", [](const Root& root) { accept(remove_path(root, "/a/b/x")); }},
    {"RemoveLeftovers", [](const Root& root) { accept(remove_leftovers(root, "/a/b/x")); }},
    {"DeleteTree", [](const Root& root) { accept(delete_tree(root, "/a/b")); }},
};

struct Attack {
    const char* name;
    const char* path;     // what is swapped for a link
    const char* outside;  // the target of the link
};

std::ostream& operator<<(std::ostream& out, const Attack& attack) { return out << attack.name; }

const std::string kTemporary = "/a/b/.kubexm-" + sha256("x").substr(0, 32);

const Attack kAttacks[] = {
    {"OnTheWay", "/a", ""},
    {"OnItsDirectory", "/a/b", "b"},
    {"OnTheObject", "/a/b/x", "b/x"},
    {"BelowADirectory", "/a/b/sub", "b/sub"},
    {"OnTheTemporary", kTemporary.c_str(), "b/x"},
};

constexpr int kNever = -1;

class Interleaving : public FilesInMemoryTest,
                     public ::testing::WithParamInterface<std::tuple<Operation, Attack>> {
protected:
    static void make_files(const fs::path& directory, std::string_view content) {
        fs::create_directories(directory / "sub");
        put(directory / "x", content);
        put(directory / "sub/file", content);
    }

    void begin(const Attack& attack) const {
        fs::remove_all(at("/a"));
        fs::remove_all(at("/link"));
        make_files(at("/a/b"), "inside");
        fs::create_symlink(scratch.outside() / attack.outside, at("/link"));
    }

    /// Swaps the object and the link; without an object the link takes its place. A second call
    /// reverts the first.
    void swap(const Attack& attack) const {
        const std::string path = at(attack.path).string();
        const std::string link = at("/link").string();
        if (::renameat2(AT_FDCWD, path.c_str(), AT_FDCWD, link.c_str(), RENAME_EXCHANGE) == 0) {
            return;
        }
        if (::rename(link.c_str(), path.c_str()) != 0) ::rename(path.c_str(), link.c_str());
    }

    /// Returns the number of steps.
    int attack_at(int first, int second, const Operation& operation, const Attack& attack,
                  const Root& memory) const {
        begin(attack);
        int steps = 0;
        step_through([&] { operation.run(memory); },
                     [&](int step) {
                         steps = step + 1;
                         if (step == first || step == second) swap(attack);
                     });
        return steps;
    }
};

TEST_P(Interleaving, OfAnAttackNeverReachesTheOutside) {
    in_memory([this](const Root& memory) {
        const auto& [operation, attack] = GetParam();
        make_files(scratch.outside() / "b", "outside");
        put(scratch.outside() / "b/canary", "alive");
        const auto before = canaries(scratch.outside());
        const int steps = attack_at(kNever, kNever, operation, attack, memory);
        ASSERT_GE(steps, 2) << "the operation was not stopped at its system calls";
        for (int first = 0; first < steps; ++first) {
            for (const int second : {kNever, first + 1, first + 2, first + 3}) {
                attack_at(first, second, operation, attack, memory);
                ASSERT_EQ(canaries(scratch.outside()), before) << first << " and " << second;
            }
        }
    });
}

using HardLinks = FilesInMemoryTest;

TEST_F(HardLinks, InPlaceOfANewLinkDoNotGetItsMode) {
    in_memory([this](const Root& memory) {
        const fs::path victim = scratch.outside() / "victim";
        put(victim, "alive");
        ASSERT_EQ(::chmod(victim.c_str(), 0640), 0);
        int steps = 1;
        for (int at_step = 0; at_step < steps; ++at_step) {
            fs::remove_all(at("/a"));
            fs::create_directories(at("/a/b"));
            fs::create_hard_link(victim, at("/a/hard"));
            step_through([&] { accept(replace_symlink(memory, "/a/b/x", "new", own(0777))); },
                         [&](int step) {
                             steps = std::max(steps, step + 1);
                             if (step == at_step) fs::rename(at("/a/hard"), at(kTemporary));
                         });
            ASSERT_EQ(mode_of(victim), 0640U) << "exchanged before system call " << at_step;
        }
        EXPECT_GE(steps, 4) << "the operation was not stopped at its system calls";
    });
}

INSTANTIATE_TEST_SUITE_P(Attacks, Interleaving,
                         ::testing::Combine(::testing::ValuesIn(kOperations),
                                            ::testing::ValuesIn(kAttacks)),
                         [](const auto& pair) {
                             return std::string(std::get<0>(pair.param).name) +
                                    std::get<1>(pair.param).name;
                         });

}  // namespace
}  // namespace kubexm::executor
