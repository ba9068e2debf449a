#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "daemon/base/error.hpp"

namespace kubexm::config {

/// A place in a file, from 1 as editors count; line 0 is the file as a whole.
struct Mark {
    int line = 0;
    int column = 0;

    auto operator<=>(const Mark&) const = default;
};

/// Everything that is wrong, file by file.
class Problems {
public:
    /// What is added from here on is about this file.
    void begin_file(const std::string& name);
    const std::string& file() const { return files_.back(); }

    void add(Mark at, std::string what, Code code = Code::invalid);

    bool empty() const { return found_.empty(); }
    /// A line each, in the order of the files and of the places in them. The first ones, if there
    /// are too many to read.
    std::unexpected<Error> error() const;

private:
    struct Problem {
        std::size_t file = 0;
        Mark at;
        std::string what;
        Code code = Code::invalid;
    };
    std::string line_of(const Problem& problem) const;

    std::vector<std::string> files_;
    std::vector<Problem> found_;  // in the order of files and places
    std::size_t left_out_ = 0;
};

}  // namespace kubexm::config
