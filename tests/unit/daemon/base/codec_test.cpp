#include "daemon/base/codec.hpp"

#include <gtest/gtest.h>

namespace kubexm::codec {
namespace {

struct Item {
    static constexpr std::string_view kType = "item";
    std::string name;

    static void fields(auto& self, auto&& visit) { visit("name", self.name); }
};

/// The same in a later version.
struct LaterItem {
    static constexpr std::string_view kType = "item";
    std::string name;
    std::uint32_t size = 7;
    std::vector<std::string> tags;

    static void fields(auto& self, auto&& visit) {
        visit("name", self.name);
        visit("size", self.size);
        visit("tags", self.tags);
    }
};

template <typename T>
struct Box {
    T first;
    std::optional<T> second;
    std::vector<std::variant<T>> more;
    bool open = true;

    static void fields(auto& self, auto&& visit) {
        visit("first", self.first);
        visit("second", self.second);
        visit("more", self.more);
        visit("open", self.open);
    }
};

TEST(WithoutDefaults, AMemberThatIsAddedChangesNothing) {
    const Box<Item> before{Item{"a"}, Item{"b"}, {Item{"c"}}, false};
    const Box<LaterItem> after{LaterItem{"a"}, LaterItem{"b"}, {LaterItem{"c"}}, false};
    EXPECT_NE(encode(before), encode(after));
    EXPECT_EQ(without_defaults(before), without_defaults(after));
    EXPECT_EQ(without_defaults(before),
              json::parse(R"({"first": {"name": "a"}, "second": {"name": "b"},
                              "more": [{"type": "item", "name": "c"}], "open": false})"));
}

TEST(WithoutDefaults, WhatIsSetCounts) {
    LaterItem item{"a"};
    const json before = without_defaults(item);
    item.size = 0;
    EXPECT_EQ(without_defaults(item), json::parse(R"({"name": "a", "size": 0})"));
    item.size = 7;
    item.tags = {""};
    EXPECT_NE(without_defaults(item), before);
    EXPECT_EQ(without_defaults(Box<LaterItem>{}), json::object());
}

}  // namespace
}  // namespace kubexm::codec
