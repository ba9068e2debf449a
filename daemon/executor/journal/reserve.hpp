#pragma once

#include <string>
#include <utility>

namespace kubexm::executor {

/// Space on the disk of the state directory that a release may use when the disk is full: without
/// it a host with a full disk could not be given back.
class Reserve {
public:
    explicit Reserve(const std::string& state_directory) : path_(state_directory + "/reserve") {}

    /// Takes the space, unless it is taken or the disk is almost full. Best effort.
    void keep() const;
    /// Frees the space for the next write. False: there is none.
    bool drop() const;

private:
    std::string path_;
};

}  // namespace kubexm::executor
