#include "daemon/base/io.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <thread>

#include "tests/unit/temp_directory.hpp"

namespace kubexm {
namespace {

using testing::HasSubstr;

TEST(Io, ReadsAFileUpToItsLimit) {
    const TempDirectory temp;
    const std::string content(100'000, 'x');
    temp.write("f", content);
    EXPECT_EQ(read_file(temp / "f", content.size()), content);
    const auto refused = read_file(temp / "f", content.size() - 1);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::invalid);
    EXPECT_THAT(refused.error().what, HasSubstr(temp / "f: expected at most 99999 bytes"));
}

TEST(Io, NamesTheFileThatIsMissing) {
    const TempDirectory temp;
    EXPECT_EQ(read_file(temp / "f", 1).error().code, Code::not_found);
    EXPECT_THAT(read_file(temp / "f", 1).error().what, HasSubstr(temp / "f"));
}

TEST(Io, DoesNotBlockOnAPipe) {
    const TempDirectory temp;
    ASSERT_EQ(::mkfifo((temp / "pipe").c_str(), 0600), 0);
    EXPECT_EQ(read_file(temp / "pipe", 1).error().code, Code::invalid);
}

TEST(Io, WritesMoreThanAPipeHolds) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    const std::string bytes(1'000'000, 'y');
    Result<std::string> got;
    std::jthread reader([&] { got = read_rest(Fd(ends[0]).get(), "pipe", bytes.size()); });
    {
        const Fd writer(ends[1]);
        EXPECT_TRUE(write_all(writer.get(), bytes, "pipe"));
    }
    reader.join();
    EXPECT_EQ(got, bytes);
}

TEST(Io, AMemoryFileHasItsBytesAndKeepsThem) {
    const auto file = memory_file("secret");
    ASSERT_TRUE(file);
    EXPECT_EQ(read_rest(file->get(), "memory", 100), "secret");
    EXPECT_EQ(read_whole(file->get(), "memory", 100), "secret") << "from any position";
    EXPECT_LT(::pwrite(file->get(), "x", 1, 0), 0);
    EXPECT_NE(::ftruncate(file->get(), 0), 0);
}

}  // namespace
}  // namespace kubexm
