#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/base/fd.hpp"

namespace kubexm::executor::journal {

/// A directory of ours and the entries in it, by name. Private to this module. What changes entries
/// is durable once sync() has succeeded. Errors name the whole path.
class Directory {
public:
    static Result<Directory> open(const std::string& path);

    int fd() const { return fd_.get(); }
    const std::string& path() const { return path_; }
    std::string path_of(std::string_view name) const;

    Result<bool> has(const std::string& name) const;
    Result<std::vector<std::string>> entries() const;
    /// A new empty file, 0600, for writing. conflict: the name is taken.
    Result<Fd> create(const std::string& name) const;
    /// An existing file, for reading; a link is denied.
    Result<Fd> read(const std::string& name) const;
    /// Gives a file a second name.
    Result<> link(const std::string& from, const std::string& to) const;
    /// Replaces what has the new name.
    Result<> rename(const std::string& from, const std::string& to) const;
    /// An absent name is success.
    Result<> remove(const std::string& name) const;
    Result<> sync() const;

private:
    Directory(Fd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
    Fd fd_;
    std::string path_;
};

}  // namespace kubexm::executor::journal
