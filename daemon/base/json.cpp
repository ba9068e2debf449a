#include "daemon/base/json.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace kubexm {

namespace {

using nlohmann::json;

/// Walks the text without keeping anything and stops at the first limit that is passed.
class LimitCheck : public nlohmann::json_sax<json> {
public:
    explicit LimitCheck(const JsonLimits& limits) : limits_(limits) {}

    bool null() override { return count(); }
    bool boolean(bool) override { return count(); }
    bool number_integer(number_integer_t) override { return count(); }
    bool number_unsigned(number_unsigned_t) override { return count(); }
    bool number_float(number_float_t, const string_t&) override { return count(); }
    bool string(string_t&) override { return count(); }
    bool binary(binary_t&) override { return count(); }
    bool key(string_t& name) override {
        if (members_.back().insert(name).second) return count();
        return refuse("a member is given twice");  // readers would not agree on which one counts
    }
    bool start_object(std::size_t) override {
        members_.emplace_back();
        return enter();
    }
    bool start_array(std::size_t) override { return enter(); }
    bool end_object() override {
        members_.pop_back();
        return leave();
    }
    bool end_array() override { return leave(); }
    bool parse_error(std::size_t position, const std::string&, const json::exception&) override {
        return refuse(fmt::format("not JSON: byte {} was not expected", position));
    }

    std::string problem;

private:
    bool count() {
        if (++values_ <= limits_.max_values) return true;
        return refuse(fmt::format("more than {} values", limits_.max_values));
    }
    bool enter() {
        if (++depth_ <= limits_.max_depth) return count();
        return refuse(fmt::format("nested deeper than {}", limits_.max_depth));
    }
    bool leave() {
        --depth_;
        return true;
    }
    bool refuse(std::string why) {
        problem = std::move(why);
        return false;
    }

    const JsonLimits& limits_;
    std::size_t values_ = 0;
    int depth_ = 0;
    std::vector<std::set<std::string>> members_;  // of the objects we are in
};

}  // namespace

Result<json> parse_json(std::string_view text, const JsonLimits& limits) {
    if (text.size() > limits.max_bytes) {
        return fail(Code::invalid,
                    fmt::format("{} bytes, at most {} are read", text.size(), limits.max_bytes));
    }
    LimitCheck check(limits);
    if (!json::sax_parse(text, &check)) return fail(Code::invalid, check.problem);
    return json::parse(text, nullptr, /*allow_exceptions=*/false);
}

}  // namespace kubexm
