#include "daemon/config/document.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "daemon/base/text.hpp"

namespace kubexm::config {

namespace {

constexpr std::size_t kMaxDepth = 10;
constexpr std::size_t kMaxValues = 4096;

Mark mark_of(const YAML::Mark& mark) {
    return mark.is_null() ? Mark{} : Mark{mark.line + 1, mark.column + 1};
}

/// Puts the parser's events together to a tree. What must end the parsing is thrown as the
/// parser's own exception; for everything else the document is read on.
class Builder : public YAML::EventHandler {
public:
    Builder(std::string_view text, Problems& problems) : text_(text), problems_(problems) {}

    Value take_root() { return std::move(root_); }

    void OnDocumentStart(const YAML::Mark& mark) override {
        if (++documents_ > 1) throw YAML::ParserException(mark, "expected the end of the file");
    }
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        check_scalar(mark, "?", anchor);
        add({mark_of(mark), Nothing{}});
    }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
        problems_.add(mark_of(mark), "expected a value, found an alias: write the value out");
        add({mark_of(mark), Refused{}});
    }
    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& value) override {
        check_scalar(mark, tag, anchor);
        add({mark_of(mark), value});
    }
    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        check_collection(mark, tag, anchor);
        open_.push_back({{mark_of(mark), List{}}, {}});
    }
    void OnSequenceEnd() override { close(); }
    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        check_collection(mark, tag, anchor);
        open_.push_back({{mark_of(mark), Map{}}, {}});
    }
    void OnMapEnd() override { close(); }

private:
    struct Open {
        Value value;
        std::optional<Value> key;  // of a mapping, until its value comes
    };

    void refuse_tag(const YAML::Mark& mark) {
        problems_.add(mark_of(mark),
                      "expected a value without a tag, found one that begins with !");
    }
    void check_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
        if (anchor == YAML::NullAnchor) return;
        problems_.add(mark_of(mark),
                      "expected a value without an anchor, found one that begins with &");
    }
    /// The parser calls a quoted text "!" and loses the tag of a null: the text tells.
    void check_scalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
        const auto position = static_cast<std::size_t>(mark.pos);
        const bool tagged = position < text_.size() && text_[position] == '!';
        if (tagged || (tag != "?" && tag != "!")) refuse_tag(mark);
        check_anchor(mark, anchor);
    }
    void check_collection(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
        if (open_.size() == kMaxDepth) {
            throw YAML::ParserException(mark, fmt::format("nested deeper than {}", kMaxDepth));
        }
        if (tag != "?") refuse_tag(mark);
        check_anchor(mark, anchor);
    }

    void close() {
        Value done = std::move(open_.back().value);
        open_.pop_back();
        add(std::move(done));
    }
    void add(Value value) {
        if (++values_ > kMaxValues) throw too_many();
        if (open_.empty()) {
            root_ = std::move(value);
        } else if (auto* list = std::get_if<List>(&open_.back().value.content)) {
            list->push_back(std::move(value));
        } else if (auto& key = open_.back().key; !key) {
            key = std::move(value);
        } else {
            add_member(*key, std::move(value));
            key.reset();
        }
    }
    void add_member(const Value& key, Value value) {
        Map& map = std::get<Map>(open_.back().value.content);
        const auto* name = std::get_if<std::string>(&key.content);
        // The parser puts a value that is not there where the next one begins.
        if (std::holds_alternative<Nothing>(value.content)) value.at = key.at;
        if (name == nullptr) {
            problems_.add(key.at, "expected the name of a key");
        } else if (const auto first = std::ranges::find(map, *name, &Member::key);
                   first != map.end()) {
            problems_.add(key.at, fmt::format("key \"{:.64}\" is there already, in line {}",
                                              printable(*name), first->at.line));
        } else {
            map.push_back({*name, key.at, std::move(value)});
        }
    }
    static YAML::ParserException too_many() {
        return {YAML::Mark::null_mark(), fmt::format("more than {} values", kMaxValues)};
    }

    std::string_view text_;
    Problems& problems_;
    Value root_;
    std::vector<Open> open_;
    std::size_t values_ = 0;
    int documents_ = 0;
};

/// The parser would guess at other encodings and takes any control character.
bool is_text(std::string_view text, Problems& problems) {
    Mark at{1, 1};
    while (!text.empty()) {
        const auto character = first_character(text);
        const char32_t code = character ? character->code : 0;
        const bool allowed = (code >= 0x20 && code != 0x7f && code != 0xfeff) || code == '\n' ||
                             code == '\r' || code == '\t';
        if (!allowed) {
            problems.add(at, "expected UTF-8 text without control characters and byte order mark");
            return false;
        }
        text.remove_prefix(character ? character->bytes : 1);
        at = code == '\n' ? Mark{at.line + 1, 1} : Mark{at.line, at.column + 1};
    }
    return true;
}

}  // namespace

std::optional<Value> parse_document(std::string_view text, Problems& problems) {
    if (text.size() > kMaxFileBytes) {
        problems.add({}, fmt::format("expected at most {} KiB", kMaxFileBytes / 1024));
        return std::nullopt;
    }
    if (!is_text(text, problems)) return std::nullopt;
    Builder builder(text, problems);
    try {
        std::istringstream stream{std::string(text)};
        YAML::Parser parser(stream);
        while (parser.HandleNextDocument(builder)) {
        }
    } catch (const YAML::Exception& error) {
        problems.add(mark_of(error.mark),
                     fmt::format("not YAML we read: {}", printable(error.msg)));
        return std::nullopt;
    }
    return builder.take_root();
}

}  // namespace kubexm::config
