#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "daemon/base/overloaded.hpp"
#include "daemon/executor/render/render.hpp"
#include "daemon/model/plan_codec.hpp"
#include "tests/unit/daemon/executor/render/examples.hpp"

namespace {

using kubexm::executor::Example;
using kubexm::executor::Rendered;
using kubexm::model::Document;
using nlohmann::json;

/// Special characters of some syntax, or bytes of the fuzzer.
std::string hostile_text(FuzzedDataProvider& bytes) {
    constexpr std::size_t kMaxText = 300;
    const char* const known[] = {"\n", "\r\n", "\\\n", "\"", "'",  "\\",     "%n",
                                 "$X", " ",    "\t",   "#",  ": ", "\u00e9", "\xff"};
    if (bytes.ConsumeBool()) return bytes.PickValueInArray(known);
    return bytes.ConsumeRandomLengthString(kMaxText);
}

void change_scalar(json& value, FuzzedDataProvider& bytes) {
    constexpr int kSeldom = 3;
    if (bytes.ConsumeIntegralInRange<int>(0, kSeldom) != kSeldom) return;
    if (value.is_number()) value = bytes.ConsumeIntegral<std::uint8_t>();
    if (!value.is_string()) return;
    auto& text = value.get_ref<std::string&>();
    text.insert(bytes.ConsumeIntegralInRange<std::size_t>(0, text.size()), hostile_text(bytes));
    text.resize(bytes.ConsumeIntegralInRange<std::size_t>(0, text.size()));
}

/// Changes some texts and numbers of a document, and the length of its lists.
void change(json& value, FuzzedDataProvider& bytes) {
    constexpr std::size_t kMaxElements = 3;
    if (!value.is_structured()) return change_scalar(value, bytes);
    if (value.is_array()) {
        const json first = value.front();
        auto& list = value.get_ref<json::array_t&>();
        list.resize(bytes.ConsumeIntegralInRange<std::size_t>(1, kMaxElements), first);
    }
    for (auto& [name, member] : value.items()) {
        if (name != "type") change(member, bytes);
    }
}

/// Lines for the elements of lists and for optional fields.
std::size_t own_lines(const Document& document) {
    using namespace kubexm::model;
    return std::visit(kubexm::overloaded{
                          [](const KubeletConfiguration& file) {
                              return file.cluster_dns.size() + (file.minor >= 31 ? 1 : 0);
                          },
                          [](const RegistryHosts& file) {
                              std::size_t count = 0;
                              for (const auto& mirror : file.mirrors) {
                                  count += mirror.ca.empty() ? 3 : 4;
                              }
                              return count;
                          },
                          [](const CniConfiguration& file) {
                              const std::size_t subnets = std::size_t{!file.ipv4_subnet.empty()} +
                                                          std::size_t{!file.ipv6_subnet.empty()};
                              return 8 * subnets + (file.mtu == 0 ? 0 : 1);
                          },
                          [](const SysctlFile& file) { return file.values.size(); },
                          [](const ModulesFile& file) { return file.modules.size(); },
                          [](const auto&) { return std::size_t{0}; },
                      },
                      document);
}

std::size_t lines(const Rendered& file) {
    return static_cast<std::size_t>(std::count(file.content.begin(), file.content.end(), '\n'));
}

bool is_printable(char c) { return c == '\n' || (c >= ' ' && c <= '~'); }

}  // namespace

// The result is a refusal, or exactly the lines of the template in printable ASCII.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const auto all = kubexm::executor::examples();
    FuzzedDataProvider bytes(data, size);
    const Example& example = all[bytes.ConsumeIntegralInRange<std::size_t>(0, all.size() - 1)];
    json form = kubexm::codec::encode(example.document);
    change(form, bytes);
    Document document;
    if (!kubexm::codec::decode(form, document, {"document"})) return 0;
    const auto file = kubexm::executor::render(document);
    if (!file) return 0;
    const auto untouched = kubexm::executor::render(example.document);
    if (lines(*file) - own_lines(document) != lines(*untouched) - own_lines(example.document)) {
        __builtin_trap();
    }
    if (!std::all_of(file->content.begin(), file->content.end(), is_printable)) __builtin_trap();
    return 0;
}
