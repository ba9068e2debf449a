#include "daemon/executor/engine/data_kinds.hpp"

#include "daemon/base/io.hpp"
#include "daemon/base/refusal.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/engine/ledger_steps.hpp"

namespace kubexm::executor {

namespace {

using model::DataFile;
using pki::Authority;

constexpr std::size_t kMaxBundle = model::kCaBundle.limit;

Result<std::string> text_of(const Vault& vault, const DataFile& file) {
    const Fd blob = TRY(vault.open_blob(file.digest));
    return read_whole(blob.get(), file.path, kMaxBundle);
}

Result<bool> is_applied(Journal& journal, const DataFile& file) {
    const auto entry = TRY(journal.ledger_entry(DataFile::kType, file.path));
    if (!entry) return false;
    const auto step = TRY(applied_step(*entry));
    return step == model::Step(file);
}

Result<> check_kind(const Vault& vault, const DataFile& file) {
    switch (file.kind) {
        case model::DataKind::ca_bundle:
            TRY(authorities_in(vault, file));
    }
    return {};
}

}  // namespace

Result<> check_kinds(Journal& journal, const Vault& vault, const model::Plan& plan) {
    for (const model::Step& step : plan.steps) {
        const auto* file = std::get_if<DataFile>(&step);
        if (file == nullptr) continue;
        const bool applied = TRY(is_applied(journal, *file));
        if (!applied) TRY(check_kind(vault, *file));
    }
    return {};
}

Result<std::vector<Authority>> authorities_in(const Vault& vault, const DataFile& file) {
    const std::string text = TRY(text_of(vault, file));
    auto authorities = pki::read_authorities(text, system_seconds());
    if (authorities) return authorities;
    const auto why = during(file.path, authorities.error());
    TRY(refusal("ca-content", why.error().code, why.error().what));
    return std::vector<Authority>();
}

std::vector<Authority> valid_authorities_in(const Vault& vault, const DataFile& file) {
    return pki::valid_authorities(text_of(vault, file).value_or(""), system_seconds());
}

std::chrono::sys_seconds system_seconds() {
    return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

}  // namespace kubexm::executor
