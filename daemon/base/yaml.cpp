#include "daemon/base/yaml.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <utility>

#include "daemon/base/text.hpp"

namespace kubexm::yaml {

namespace {

Mark mark_of(const YAML::Mark& mark) {
    return mark.is_null() ? Mark{} : Mark{mark.line + 1, mark.column + 1};
}

/// Ends the parsing.
struct Abort {
    YamlProblem problem;
};

/// Builds a tree from the parser's events. A problem that allows reading on is only recorded.
class Builder : public YAML::EventHandler {
public:
    Builder(std::string_view text, const YamlLimits& limits, std::vector<YamlProblem>& problems)
        : text_(text), limits_(limits), problems_(problems) {}

    Value take_root() { return std::move(root_); }

    void OnDocumentStart(const YAML::Mark& mark) override {
        if (++documents_ > 1) abort(mark, "expected one document, found a second");
    }
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        check_scalar(mark, "?", anchor);
        add({mark_of(mark), Nothing{}});
    }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
        count(mark);
        refuse(mark_of(mark), "expected a value, found an alias: write the value out");
        add({mark_of(mark), Rejected{}});
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

    [[noreturn]] static void abort(const YAML::Mark& mark, std::string what) {
        throw Abort{{mark_of(mark), std::move(what), ""}};
    }
    void refuse(Mark at, std::string what, std::string detail = "") {
        problems_.push_back({at, std::move(what), std::move(detail)});
    }
    void count(const YAML::Mark& mark) {
        if (++values_ <= limits_.max_values) return;
        abort(mark, fmt::format("more than {} values", limits_.max_values));
    }
    void check(const YAML::Mark& mark, bool tagged, YAML::anchor_t anchor) {
        count(mark);
        if (tagged) {
            refuse(mark_of(mark), "expected a value without a tag, found one that begins with !");
        }
        if (anchor != YAML::NullAnchor) {
            refuse(mark_of(mark),
                   "expected a value without an anchor, found one that begins with &");
        }
    }
    /// The parser reports a quoted text with tag "!" and loses the tag of a null, so check the
    /// text itself.
    void check_scalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
        const auto position = static_cast<std::size_t>(mark.pos);
        const bool tagged = position < text_.size() && text_[position] == '!';
        check(mark, tagged || (tag != "?" && tag != "!"), anchor);
    }
    void check_collection(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
        if (open_.size() == limits_.max_depth) {
            abort(mark, fmt::format("nested deeper than {}", limits_.max_depth));
        }
        check(mark, tag != "?", anchor);
    }

    void close() {
        Value done = std::move(open_.back().value);
        open_.pop_back();
        add(std::move(done));
    }
    void add(Value value) {
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
    void add_member(Value& key, Value value) {
        Map& map = std::get<Map>(open_.back().value.content);
        auto* name = std::get_if<std::string>(&key.content);
        // The parser marks a missing value where the next one begins.
        if (std::holds_alternative<Nothing>(value.content)) value.at = key.at;
        if (name == nullptr) return refuse(key.at, "expected a text as key");
        const auto first = std::ranges::find(map, *name, &Member::key);
        if (first == map.end()) {
            map.push_back({std::move(*name), key.at, std::move(value)});
        } else {
            refuse(key.at, fmt::format("duplicate key, first set in line {}", first->at.line),
                   *name);
        }
    }

    std::string_view text_;
    const YamlLimits& limits_;
    std::vector<YamlProblem>& problems_;
    Value root_;
    std::vector<Open> open_;
    std::size_t values_ = 0;
    int documents_ = 0;
};

bool is_allowed(char32_t code) {
    constexpr char32_t kByteOrderMark = 0xfeff;
    return (code >= 0x20 && code != 0x7f && code != kByteOrderMark) || code == '\n' ||
           code == '\r' || code == '\t';
}

/// The parser itself guesses encodings and accepts any control character.
void check_characters(std::string_view text) {
    Mark at{1, 1};
    while (!text.empty()) {
        const auto character = first_character(text);
        if (!character || !is_allowed(character->code)) {
            throw Abort{
                {at, "expected UTF-8 text without control characters and byte order mark", ""}};
        }
        text.remove_prefix(character->bytes);
        at = character->code == '\n' ? Mark{at.line + 1, 1} : Mark{at.line, at.column + 1};
    }
}

Value root_of(std::string_view text, const YamlLimits& limits, std::vector<YamlProblem>& problems) {
    if (text.size() > limits.max_bytes) {
        throw Abort{{{}, fmt::format("expected at most {} bytes", limits.max_bytes), ""}};
    }
    check_characters(text);
    Builder builder(text, limits, problems);
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
    return builder.take_root();
}

}  // namespace

YamlDocument parse(std::string_view text, const YamlLimits& limits) {
    YamlDocument document{{{}, Rejected{}}, {}};
    try {
        document.root = root_of(text, limits, document.problems);
    } catch (const Abort& abort) {
        document.problems.push_back(abort.problem);
    } catch (const YAML::Exception& error) {
        document.problems.push_back({mark_of(error.mark), "not YAML", error.msg});
    }
    return document;
}

}  // namespace kubexm::yaml
