#pragma once

#include <ostream>
#include <string>
#include <string_view>

namespace kubexm {

/// Secret bytes: wiped when destroyed or moved, printed as ***. Not copyable, so that every place
/// that holds them is visible in the code.
class Secret {
public:
    Secret() = default;
    /// Takes the bytes and wipes the string they came in.
    explicit Secret(std::string&& bytes);
    Secret(Secret&& other) noexcept;
    Secret& operator=(Secret&& other) noexcept;
    Secret(const Secret&) = delete;
    Secret& operator=(const Secret&) = delete;
    ~Secret();

    /// The only access to the bytes; the name is easy to search for.
    std::string_view reveal() const { return bytes_; }
    bool empty() const { return bytes_.empty(); }

private:
    std::string bytes_;
};

std::ostream& operator<<(std::ostream& out, const Secret& secret);

/// Overwrites the whole capacity, also the rest of a shrunk string.
void wipe(std::string& bytes);

}  // namespace kubexm
