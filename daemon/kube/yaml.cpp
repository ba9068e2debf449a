#include "daemon/kube/yaml.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace kubexm::kube {

namespace {

using nlohmann::json;

constexpr std::size_t kMaxBytes = std::size_t{256} * 1024;
constexpr std::size_t kMaxDepth = 16;
constexpr std::size_t kMaxValues = 4096;

/// What we refuse; the parser's own exceptions may quote what they stand at.
class Refusal : public YAML::ParserException {
    using YAML::ParserException::ParserException;
};

/// Puts the parser's events together; what it refuses it throws, as the parser itself does.
class Builder : public YAML::EventHandler {
public:
    json take_root() { return std::move(root_); }

    void OnDocumentStart(const YAML::Mark& mark) override {
        if (++documents_ > 1) refuse(mark, "a second document");
    }
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        check(mark, anchor);
        add(mark, nullptr);
    }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { refuse(mark, "an alias"); }
    void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  const std::string& value) override {
        check(mark, anchor);
        add(mark, value);
    }
    void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        open(mark, anchor, json::array());
    }
    void OnSequenceEnd() override { close(); }
    void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        open(mark, anchor, json::object());
    }
    void OnMapEnd() override { close(); }

private:
    struct Open {
        YAML::Mark at;
        json value;
        std::optional<std::string> key;  // of a mapping, until its value comes
    };

    [[noreturn]] static void refuse(const YAML::Mark& mark, const std::string& found) {
        throw Refusal(mark, found);
    }
    void check(const YAML::Mark& mark, YAML::anchor_t anchor) {
        if (anchor != YAML::NullAnchor) refuse(mark, "an anchor");
        if (++values_ > kMaxValues) refuse(mark, fmt::format("more than {} values", kMaxValues));
    }
    void open(const YAML::Mark& mark, YAML::anchor_t anchor, json value) {
        check(mark, anchor);
        if (open_.size() == kMaxDepth) refuse(mark, fmt::format("more than {} levels", kMaxDepth));
        open_.push_back({mark, std::move(value), std::nullopt});
    }
    void close() {
        Open done = std::move(open_.back());
        open_.pop_back();
        add(done.at, std::move(done.value));
    }
    void add(const YAML::Mark& mark, json value) {
        if (open_.empty()) {
            root_ = std::move(value);
        } else if (Open& parent = open_.back(); parent.value.is_array()) {
            parent.value.push_back(std::move(value));
        } else if (!parent.key) {
            parent.key = key_of(mark, parent, value);
        } else {
            parent.value[*parent.key] = std::move(value);
            parent.key.reset();
        }
    }
    static std::string key_of(const YAML::Mark& mark, const Open& parent, const json& value) {
        const auto* key = value.get_ptr<const std::string*>();
        if (key == nullptr) refuse(mark, "a key that is no text");
        if (parent.value.contains(*key)) refuse(mark, "a key that is there already");
        return *key;
    }

    json root_;
    std::vector<Open> open_;
    std::size_t values_ = 0;
    int documents_ = 0;
};

}  // namespace

Result<json> json_from_yaml(std::string_view text) {
    if (text.size() > kMaxBytes) {
        return fail(Code::invalid, fmt::format("expected at most {} KiB", kMaxBytes / 1024));
    }
    // The parser would guess at other encodings from it, and text has none.
    if (std::ranges::find(text, '\0') != text.end()) {
        return fail(Code::invalid, "expected text, found a NUL byte");
    }
    Builder builder;
    try {
        std::istringstream stream{std::string(text)};
        YAML::Parser parser(stream);
        while (parser.HandleNextDocument(builder)) {
        }
    } catch (const Refusal& error) {
        return fail(Code::invalid,
                    fmt::format("line {}: found {}", error.mark.line + 1, error.msg));
    } catch (const YAML::Exception& error) {
        return fail(Code::invalid, fmt::format("line {}: not YAML", error.mark.line + 1));
    }
    return builder.take_root();
}

}  // namespace kubexm::kube
