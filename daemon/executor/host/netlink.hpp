#pragma once

#include <libmnl/libmnl.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/error.hpp"

// Private to the module: questions to the kernel and its answers.

namespace kubexm::executor {

/// A request in the making, one message or several in a row.
class NetlinkRequest {
public:
    /// Begins the next message; `header` is what its family wants in front of the attributes.
    template <typename Header>
    NetlinkRequest& message(std::uint16_t type, std::uint16_t flags, const Header& header) {
        begin(type, flags, &header, sizeof(header));
        return *this;
    }
    NetlinkRequest& text(std::uint16_t attribute, const std::string& value);
    NetlinkRequest& number(std::uint16_t attribute, std::uint32_t value);  // in network order
    NetlinkRequest& number(std::uint16_t attribute, std::uint64_t value);

    const std::string& bytes() const { return bytes_; }

private:
    void begin(std::uint16_t type, std::uint16_t flags, const void* header, std::size_t size);
    void attribute(std::uint16_t type, const void* value, std::size_t size);
    void end_message();

    std::string bytes_;
    std::size_t start_ = 0;  // of the last message
};

/// The attributes of a message, or of one attribute of it.
class NetlinkAttributes {
public:
    static NetlinkAttributes of(const std::string& message, std::size_t header);

    std::optional<NetlinkAttributes> below(std::uint16_t attribute) const;
    std::vector<NetlinkAttributes> elements() const;  // of a list
    bool has(std::uint16_t attribute) const { return find(attribute) != nullptr; }
    std::string text(std::uint16_t attribute) const;   // empty: none
    std::uint32_t u32(std::uint16_t attribute) const;  // from network order; 0: none
    std::uint64_t u64(std::uint16_t attribute) const;

private:
    NetlinkAttributes(const void* data, std::size_t size)
        : data_(static_cast<const char*>(data)), size_(size) {}
    std::vector<const nlattr*> all() const;
    const nlattr* find(std::uint16_t attribute) const;

    const char* data_;
    std::size_t size_;
};

class Netlink {
public:
    /// `family` as for socket(): NETLINK_ROUTE, NETLINK_NETFILTER.
    static Result<Netlink> open(int family);

    /// The messages of the answer. conflict: what was asked about changed meanwhile. Else the
    /// kernel's refusal; `doing` says in it what was tried.
    Result<std::vector<std::string>> ask(const NetlinkRequest& request, std::string_view doing);

private:
    struct Release {
        void operator()(mnl_socket* socket) const { ::mnl_socket_close(socket); }
    };
    explicit Netlink(mnl_socket* socket) : socket_(socket) {}

    std::unique_ptr<mnl_socket, Release> socket_;
};

}  // namespace kubexm::executor
