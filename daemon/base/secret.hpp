#pragma once

#include <ostream>
#include <string>
#include <string_view>

namespace kubexm {

/// Bytes that must not be seen: wiped when they go, printed as ***. Moving leaves nothing behind;
/// copying is left out so that every place that holds the bytes is visible in the code.
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

    /// The only way to the bytes; the name is meant to be searched for.
    std::string_view reveal() const { return bytes_; }
    bool empty() const { return bytes_.empty(); }

private:
    std::string bytes_;
};

std::ostream& operator<<(std::ostream& out, const Secret& secret);

/// Overwrites the whole capacity, also what a shrunk string left behind.
void wipe(std::string& bytes);

}  // namespace kubexm
