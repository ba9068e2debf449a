#include "daemon/base/json.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace kubexm {

namespace {

using nlohmann::json;

/// Builds the value and stops at the first limit that is exceeded.
class Builder : public nlohmann::json_sax<json> {
public:
    explicit Builder(const JsonLimits& limits) : limits_(limits) {}

    bool null() override { return add(nullptr); }
    bool boolean(bool value) override { return add(value); }
    bool number_integer(number_integer_t value) override { return add(value); }
    bool number_unsigned(number_unsigned_t value) override { return add(value); }
    bool number_float(number_float_t value, const string_t&) override { return add(value); }
    bool string(string_t& value) override { return add(std::move(value)); }
    bool binary(binary_t&) override { return false; }  // not in a text
    bool key(string_t& name) override {
        // Readers disagree on which of two equal members counts.
        if (open_.back()->contains(name)) return refuse("duplicate member");
        key_ = std::move(name);
        return count();
    }
    bool start_object(std::size_t) override { return enter(json::object()); }
    bool start_array(std::size_t) override { return enter(json::array()); }
    bool end_object() override { return leave(); }
    bool end_array() override { return leave(); }
    bool parse_error(std::size_t position, const std::string&, const json::exception&) override {
        return refuse(fmt::format("not JSON: unexpected byte {}", position));
    }

    json root;
    std::string problem;

private:
    bool count() {
        if (++values_ <= limits_.max_values) return true;
        return refuse(fmt::format("more than {} values", limits_.max_values));
    }
    json& place(json value) {
        if (open_.empty()) return root = std::move(value);
        json& parent = *open_.back();
        if (parent.is_object()) return parent[key_] = std::move(value);
        parent.push_back(std::move(value));
        return parent.back();
    }
    bool add(json value) {
        place(std::move(value));
        return count();
    }
    bool enter(json container) {
        if (open_.size() == limits_.max_depth) {
            return refuse(fmt::format("nested deeper than {}", limits_.max_depth));
        }
        open_.push_back(&place(std::move(container)));
        return count();
    }
    bool leave() {
        open_.pop_back();
        return true;
    }
    bool refuse(std::string why) {
        problem = std::move(why);
        return false;
    }

    const JsonLimits& limits_;
    std::size_t values_ = 0;
    std::string key_;
    std::vector<json*> open_;  // a parent does not grow while its child is open
};

}  // namespace

Result<json> parse_json(std::string_view text, const JsonLimits& limits) {
    if (text.size() > limits.max_bytes) {
        return fail(Code::invalid, fmt::format("expected at most {} bytes, found {}",
                                               limits.max_bytes, text.size()));
    }
    Builder builder(limits);
    if (!json::sax_parse(text, &builder)) return fail(Code::invalid, builder.problem);
    return std::move(builder.root);
}

}  // namespace kubexm
