#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "daemon/executor/render/render.hpp"
#include "tests/unit/daemon/executor/render/examples.hpp"

// Tests every text of every document, found through its `fields`, so that new members are included.

namespace kubexm::executor {
namespace {

using model::Document;

/// Finds the texts of a document, each with its place.
struct Texts {
    std::vector<std::pair<std::string, std::string*>> found;

    void look(const std::string& place, std::string& text) { found.emplace_back(place, &text); }
    template <typename T>
    void look(const std::string& place, std::vector<T>& list) {
        for (std::size_t i = 0; i < list.size(); ++i) {
            look(place + "[" + std::to_string(i) + "]", list[i]);
        }
    }
    template <typename T>
    void look(const std::string& place, T& value) {
        if constexpr (requires { T::fields(value, [](std::string_view, auto&) {}); }) {
            T::fields(value, [&](std::string_view name, auto& member) {
                look(place + (place.empty() ? "" : ".") + std::string(name), member);
            });
        }
    }
};

std::vector<std::pair<std::string, std::string*>> texts_of(Document& document) {
    Texts texts;
    std::visit([&texts](auto& kind) { texts.look("", kind); }, document);
    return texts.found;
}

/// One text of one example, to be replaced.
struct Member {
    Document document;
    std::size_t index = 0;
    std::string place;
    std::string value;

    Result<Rendered> with(const std::string& text) const {
        Document changed = document;
        *texts_of(changed)[index].second = text;
        return render(changed);
    }
};

std::vector<Member> members() {
    std::vector<Member> all;
    for (Example& example : examples()) {
        std::size_t index = 0;
        for (const auto& [place, text] : texts_of(example.document)) {
            all.push_back({example.document, index++, place, *text});
        }
    }
    return all;
}

void expect_refused(const Member& member, const std::string& text) {
    auto rendered = member.with(text);
    ASSERT_FALSE(rendered) << member.place << " = " << testing::PrintToString(text) << " became "
                           << rendered->content;
    EXPECT_EQ(rendered.error().code, Code::invalid);
    EXPECT_THAT(rendered.error().what, testing::StartsWith(member.place + ": expected "));
}

TEST(HostileText, CoversEveryKindOfDocument) {
    std::set<std::size_t> kinds;
    for (const Member& member : members()) kinds.insert(member.document.index());
    EXPECT_EQ(kinds.size(), std::variant_size_v<Document>);
}

std::vector<std::string> strange_characters() {
    std::vector<std::string> all{"\\n", "%n", "${HOME}", "@NODE_FLAGS@"};
    for (const char c : std::string("\"'`\\%$@;#&|<>(){}!?=~^+\x7f")) all.emplace_back(1, c);
    for (int code = 0; code < ' '; ++code) all.emplace_back(1, static_cast<char>(code));
    // A letter, one without width, a line separator, no UTF-8.
    for (const char* text : {"\xc3\xa9", "\xe2\x80\x8b", "\xe2\x80\xa8", "\xff"}) {
        all.emplace_back(text);
    }
    return all;
}

TEST(HostileText, CannotContainSpecialCharacters) {
    for (const Member& member : members()) {
        for (const std::string& characters : strange_characters()) {
            expect_refused(member, characters);
            expect_refused(member, member.value + characters);
            expect_refused(member, characters + member.value);
            std::string inside = member.value;
            inside.insert(inside.size() / 2, characters);
            expect_refused(member, inside);
        }
    }
}

TEST(HostileText, CannotAddALine) {
    for (const Member& member : members()) {
        expect_refused(member, member.value + "\n");
        expect_refused(member, member.value + "\nExecStartPre=/bin/sh -c evil");
        expect_refused(member, member.value + "\\\nExecStartPre=/bin/sh -c evil");
        expect_refused(member, member.value + "\r\nkernel.core_pattern = |/bin/sh");
        expect_refused(member, member.value + "\"\nrotateCertificates: true\nx: \"");
        expect_refused(member, member.value + "\"\nroot = \"/evil");
    }
}

TEST(HostileText, CannotAddAFlag) {
    for (const Member& member : members()) {
        expect_refused(member, "-v");
        expect_refused(member, "--");
        expect_refused(member, "--config=/tmp/evil");
        expect_refused(member, "--" + member.value);
        expect_refused(member, member.value + " --config=/tmp/evil");
        expect_refused(member, member.value + "\" \"--config=/tmp/evil");
    }
}

TEST(HostileText, CannotBeOverlong) {
    for (const Member& member : members()) {
        expect_refused(member, std::string(5000, 'a'));
        expect_refused(member, member.value + std::string(5000, '1'));
    }
}

TEST(HostileText, CannotHaveSurroundingWhiteSpace) {
    for (const Member& member : members()) {
        expect_refused(member, " ");
        expect_refused(member, member.value + " ");
        expect_refused(member, " " + member.value);
    }
}

TEST(HostileText, CanBeEmptyOnlyWhereDocumented) {
    // kubelet chooses its address, a label or taint has no value, there is no such proxy, CA or
    // subnet.
    const std::set<std::string> may_be_empty{
        "node_ip",         "labels[0].value", "labels[1].value", "taints[0].value",
        "taints[1].value", "http_proxy",      "https_proxy",     "no_proxy",
        "mirrors[0].ca",   "mirrors[1].ca",   "ipv4_subnet",     "ipv6_subnet"};
    for (const Member& member : members()) {
        if (may_be_empty.contains(member.place)) {
            EXPECT_TRUE(member.with("")) << member.place;
        } else {
            expect_refused(member, "");
        }
    }
}

}  // namespace
}  // namespace kubexm::executor
