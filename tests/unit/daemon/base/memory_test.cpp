#include "daemon/base/memory.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

namespace kubexm {
namespace {

/// Of all mappings of this process.
long kilobytes(const std::string& key) {
    std::ifstream rollup("/proc/self/smaps_rollup");
    for (std::string line; std::getline(rollup, line);) {
        if (line.starts_with(key + ":")) return std::stol(line.substr(key.size() + 1));
    }
    ADD_FAILURE() << key << " is not in smaps_rollup";
    return 0;
}

TEST(Memory, PagesOfLibrariesThatNobodyUsesAreNotOurs) {
    const long before = kilobytes("Rss") - kilobytes("Anonymous");
    trim_memory();
    const long after = kilobytes("Rss") - kilobytes("Anonymous");
    EXPECT_LT(after, before / 2) << "of " << before << " kB of files only " << before - after
                                 << " kB were given back";
}

TEST(Memory, WhatWeHaveIsStillThereAndTheProgramGoesOn) {
    static std::string written = "relocated and written";
    std::vector<std::string> heap(1000, "on the heap, too long for the string itself");
    trim_memory();
    EXPECT_EQ(written, "relocated and written");
    for (const std::string& text : heap) {
        ASSERT_EQ(text, "on the heap, too long for the string itself");
    }
}

}  // namespace
}  // namespace kubexm
