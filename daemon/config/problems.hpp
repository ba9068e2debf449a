#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/base/yaml.hpp"

namespace kubexm::config {

/// All problems of all files.
class Problems {
public:
    /// Later problems belong to this file.
    void begin_file(const std::string& name);
    const std::string& file() const { return files_.back(); }

    void add(yaml::Mark at, const std::string& what);
    /// The file could not be read; the error names it.
    void add(const Error& error);

    bool empty() const { return found_.empty(); }
    /// One line for each of the first problems, ordered by file and place.
    std::unexpected<Error> error() const;

private:
    struct Problem {
        std::size_t file = 0;
        yaml::Mark at;
        Error error;  // with file, line and column
    };
    void insert(Problem problem);

    std::vector<std::string> files_;
    std::vector<Problem> found_;  // in the order of files and places
    std::size_t omitted_ = 0;
};

}  // namespace kubexm::config
