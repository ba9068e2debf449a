#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/base/fd.hpp"

namespace kubexm {

/// A directory and its entries, by name. A changed entry is durable once sync() has
/// succeeded. Errors have the whole path.
class StateDirectory {
public:
    /// The end of the name of a file that replace() is writing.
    static constexpr std::string_view kUnfinished = ".new";

    static Result<StateDirectory> open(const std::string& path);

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
    /// An existing file with the new name is replaced.
    Result<> rename(const std::string& from, const std::string& to) const;
    /// An absent name is success.
    Result<> remove(const std::string& name) const;
    Result<> sync() const;
    /// Replaces the content of a file, 0600, atomically and durably. After an error the old content
    /// is intact.
    Result<> replace(const std::string& name, std::string_view content) const;

private:
    StateDirectory(Fd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
    Fd fd_;
    std::string path_;
};

}  // namespace kubexm
