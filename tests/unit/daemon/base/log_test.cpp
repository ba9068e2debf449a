#include "daemon/base/log.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>

#include "daemon/base/fd.hpp"
#include "daemon/base/log_entry.hpp"

namespace kubexm::log {
namespace {

using testing::ElementsAre;

struct Pipe {
    Pipe() {
        std::array<int, 2> ends{-1, -1};
        if (::pipe(ends.data()) != 0) ADD_FAILURE() << "no pipe";
        read_end.reset(ends[0]);
        write_end.reset(ends[1]);
    }
    Fd read_end;
    Fd write_end;
};

std::string read_to_end(int fd) {
    std::string text;
    std::array<char, 4096> chunk{};
    for (ssize_t got = 0; (got = ::read(fd, chunk.data(), chunk.size())) > 0;) {
        text.append(chunk.data(), static_cast<std::size_t>(got));
    }
    return text;
}

/// The standard error of a process that runs `work`.
template <typename Work>
std::string stderr_of(Work work) {
    Pipe pipe;
    const pid_t child = ::fork();
    if (child == 0) {
        ::dup2(pipe.write_end.get(), STDERR_FILENO);
        work();
        ::_exit(0);
    }
    pipe.write_end.reset();
    std::string text = read_to_end(pipe.read_end.get());
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    return text;
}

TEST(Log, IsOneLineWithoutTheJournal) {
    const std::string text = stderr_of([] {
        warning("cannot read os-release, ignoring", {{"CODE", "not_found"}, {"FILE", "/etc/a b"}});
        info("plan accepted");
    });
    EXPECT_EQ(text,
              "warning cannot read os-release, ignoring CODE=not_found FILE=\"/etc/a b\"\n"
              "info plan accepted\n");
}

TEST(Log, EscapesLineBreaks) {
    const std::string text = stderr_of([] {
        error("bad name: x\nerror all is lost",
              {{"UNIT", "a\x1b[2J"}, {"STEP", "b CODE=\"denied\""}});
    });
    EXPECT_EQ(text,
              "error bad name: x\\nerror all is lost UNIT=\"a\\x1b[2J\""
              " STEP=\"b CODE=\\\"denied\\\"\"\n");
}

TEST(Log, DropsEntriesBelowTheLevel) {
    const std::string text = stderr_of([] {
        debug("one");
        set_level(Level::debug);
        debug("two");
        set_level(Level::warning);
        notice("three");
        warning("four");
    });
    EXPECT_EQ(text, "debug two\nwarning four\n");
}

TEST(Log, SendsFieldsUnchangedToTheJournal) {
    const std::array<Field, 2> fields{{{"PLAN", "p1"}, {"DETAIL", "two\nlines = \x1b"}}};
    EXPECT_THAT(journal_form({Level::notice, "plan\naccepted", fields}, "kubexmd"),
                ElementsAre("MESSAGE=plan\naccepted", "PRIORITY=5", "SYSLOG_IDENTIFIER=kubexmd",
                            "PLAN=p1", "DETAIL=two\nlines = \x1b"));
}

TEST(Log, DetectsTheJournalStream) {
    const Pipe pipe;
    struct stat status{};
    ASSERT_EQ(::fstat(pipe.write_end.get(), &status), 0);
    const std::string announced = fmt::format("{}:{}", status.st_dev, status.st_ino);
    EXPECT_TRUE(is_journal_stream(pipe.write_end.get(), announced));
    EXPECT_FALSE(is_journal_stream(pipe.write_end.get(), announced + "0"));
    EXPECT_FALSE(is_journal_stream(pipe.write_end.get(), ""));
    EXPECT_FALSE(is_journal_stream(-1, announced));
}

TEST(Log, ChecksFieldNames) {
    EXPECT_TRUE(is_field_name("MESSAGE_ID"));
    EXPECT_TRUE(is_field_name("A1" + std::string(62, 'Z')));
    for (const std::string name : {"", "_PID", "1A", "plan", "A B", "A=", "A-B"}) {
        EXPECT_FALSE(is_field_name(name)) << name;
    }
    EXPECT_FALSE(is_field_name(std::string(65, 'A')));
}

TEST(Log, AssertsValidFieldNames) {
    EXPECT_DEBUG_DEATH(error("x", {{"not a name", ""}}), "have_valid_names");
}

}  // namespace
}  // namespace kubexm::log
