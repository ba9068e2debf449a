#include "daemon/executor/engine/quota.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "daemon/base/digest.hpp"
#include "engine_host.hpp"

namespace kubexm::executor {
namespace {

constexpr std::int64_t kQuotaNow = 1'000'000;
constexpr Quota kQuota{.entries = 10, .owners = 2, .vault_bytes = 100, .offers = 3};

TEST(Quota, IsUsedToItsEnd) {
    EXPECT_TRUE(within(kQuota, {.entries = 6, .owners = 1, .vault_bytes = 90, .offers = 2},
                       {.entries = 4, .owners = 1, .vault_bytes = 10}, kQuotaNow));
}

TEST(Quota, NamesLimitUsedAndNeeded) {
    EXPECT_THAT(within(kQuota, {.entries = 7}, {.entries = 4}, kQuotaNow),
                IsError(Code::exhausted, "objects in the ledger: at most 10, used 7, needed 4"));
    EXPECT_THAT(within(kQuota, {.owners = 2}, {.owners = 1}, kQuotaNow),
                IsError(Code::exhausted, "owners: at most 2, used 2, needed 1"));
    EXPECT_THAT(within(kQuota, {.vault_bytes = 60}, {.vault_bytes = 41}, kQuotaNow),
                IsError(Code::exhausted, "bytes in the vault: at most 100, used 60, needed 41"));
}

TEST(Quota, OfFilesStopsNoPlanThatNeedsLess) {
    constexpr Quota kSmall{.file_bytes = 100};
    EXPECT_TRUE(within_files(kSmall, 40, 100));
    EXPECT_TRUE(within_files(kSmall, 300, 200));
    EXPECT_THAT(within_files(kSmall, 60, 101),
                IsError(Code::exhausted, "bytes in files: at most 100, used 60, needed 41"));
}

TEST(Quota, OfANodeThatIsThereStopsNoPlanThatAddsNothing) {
    EXPECT_TRUE(within(kQuota, {.entries = 99, .owners = 9, .vault_bytes = 999}, {}, kQuotaNow));
}

TEST(Quota, OfPlansSaysWhenItIsFree) {
    EXPECT_THAT(
        within(kQuota, {.offers = 3, .first_offer_at = kQuotaNow - 3600 + 61}, {}, kQuotaNow),
        IsError(Code::exhausted, "at most 3, used 3; free again in 2 minutes"));
    EXPECT_THAT(within(kQuota, {.offers = 3, .first_offer_at = kQuotaNow + 99999}, {}, kQuotaNow),
                IsError(Code::exhausted, "free again in 60 minutes"));
}

TEST(Quota, CountsEveryObjectThatAnOwnerDoesNotHaveYet) {
    LedgerEntry has;
    has.type = "symlink";
    has.target = model::target_of(model::Symlink{"/etc/link", ""});
    EXPECT_EQ(new_objects(link_plan("same"), {has}), 0);
    EXPECT_EQ(new_objects(link_plan("other", "/etc/other"), {has}), 1) << "beside the one it has";
    model::Plan both = link_plan("both");
    both.steps.emplace_back(model::Symlink{"/etc/other", "target"});
    both.steps.emplace_back(model::Symlink{"/etc/other", "again"});
    EXPECT_EQ(new_objects(both, {has}), 1);
}

class QuotaOfEngine : public EngineHost {};

TEST_F(QuotaOfEngine, LetsAHundredJoinsAndReleasesPassAtOnce) {
    for (int i = 0; i < 100; ++i) {
        ASSERT_THAT(applied(link_plan(fmt::format("join-{}", i))), IsState(PlanState::done));
        const auto undo = engine.accept_undo(fmt::format("undo-{}", i), "machine-1", kAgentCaller);
        ASSERT_TRUE(undo) << undo.error().what;
        ASSERT_THAT(carried_out(*undo), IsState(PlanState::undone));
    }
}

TEST_F(QuotaOfEngine, StopsKubexmdAndNeitherRootNorAReturn) {
    ASSERT_THAT(applied(link_plan("first")), IsState(PlanState::done));
    for (std::int64_t i = 1; i < Quota{}.offers; ++i) engine.note(kAgentCaller, kPlanOffered, "");
    EXPECT_THAT(applied(link_plan("more")), IsError(Code::exhausted, "quota of plans an hour"));
    model::Plan roots = link_plan("root", "/etc/other");
    roots.owner = "root";
    EXPECT_THAT(applied(roots, kRootCaller), IsState(PlanState::done));
    const auto undo = engine.accept_undo("undo", "machine-1", kAgentCaller);
    ASSERT_TRUE(undo);
    EXPECT_THAT(carried_out(*undo), IsState(PlanState::undone));
    EXPECT_THAT(engine.accept_undo("again", "machine-1", kAgentCaller),
                IsError(Code::exhausted, "quota of plans an hour"));
}

/// As many objects of another owner as leave room for one.
void fill_ledger(const std::string& directory) {
    auto journal = Journal::open(directory, {});
    ASSERT_TRUE(journal) << journal.error().what;
    StepChanges changes;
    for (std::uint32_t i = 0; i + 1 < Quota{}.entries; ++i) {
        changes.prepared.push_back({.index = i,
                                    .type = "absent-path",
                                    .target = fmt::format("/etc/absent-{}", i),
                                    .step = "step",
                                    .written = "",
                                    .pre_image = "none"});
    }
    ASSERT_THAT(journal->begin({.id = "theirs", .owner = "machine-2", .document = "{}"},
                               static_cast<std::uint32_t>(changes.prepared.size())),
                IsOk());
    ASSERT_THAT(journal->record("theirs", changes), IsOk());
    ASSERT_THAT(journal->end("theirs", {PlanState::done, ""}), IsOk());
}

TEST_F(QuotaOfEngine, CountsTheObjectsOfAllOwners) {
    fill_ledger(state());
    ASSERT_THAT(applied(link_plan("last")), IsState(PlanState::done));
    const char* full = "objects in the ledger: at most 4000, used 4000, needed 1";
    EXPECT_THAT(applied(link_plan("more", "/etc/other")), IsError(Code::exhausted, full));
    EXPECT_THAT(applied(link_plan("same")), IsState(PlanState::done)) << "it adds nothing";
    const auto undo = engine.accept_undo("undo", "machine-1", kAgentCaller);
    ASSERT_TRUE(undo);
    ASSERT_THAT(carried_out(*undo), IsState(PlanState::undone));
    EXPECT_THAT(applied(link_plan("again", "/etc/other")), IsState(PlanState::done));
    model::Plan roots = link_plan("root");
    roots.owner = "root";
    EXPECT_THAT(applied(roots, kRootCaller), IsState(PlanState::done)) << "root has no quota";
}

/// Of a file that grows while it is read, or whose size the kernel does not tell.
TEST_F(QuotaOfEngine, CountsWhatWasStoredAndNotWhatAFileSaid) {
    ASSERT_THAT(engine.objects(), IsOk());
    const std::string full = state() + "/content/" + std::string(64, 'b');
    put(full, "");
    std::filesystem::resize_file(full, static_cast<std::uintmax_t>(Quota{}.vault_bytes));
    engine.allow({.directories = {{"secret-file", {"/etc"}}}});
    const char* const unsized = "/proc/version";
    const std::string digest = sha256(content_of(unsized));
    std::vector<Content> contents;
    contents.push_back({digest, Fd{::open(unsized, O_RDONLY | O_CLOEXEC)}});
    const model::SecretFile file{.path = "/etc/secret", .handle = "h", .digest = digest};
    EXPECT_THAT(engine.accept({"p", "machine-1", {file}}, contents, kAgentCaller),
                IsError(Code::exhausted, "bytes in the vault"));
}

/// They would be as good a way to fill the disk as content that is sent.
TEST_F(QuotaOfEngine, CountsThePreImages) {
    if (!is_root()) GTEST_SKIP() << "files of root";
    ASSERT_THAT(engine.objects(), IsOk());
    const std::string full = state() + "/content/" + std::string(64, 'b');
    put(full, "");
    std::filesystem::resize_file(full, static_cast<std::uintmax_t>(Quota{}.vault_bytes));
    put(scratch_.at("/etc/link"), "large");
    EXPECT_THAT(applied(link_plan("p")), IsState(PlanState::failed));
    EXPECT_THAT(engine.plan("p")->last_error, testing::HasSubstr("bytes in the vault: at most"));
    EXPECT_EQ(content_of(scratch_.at("/etc/link")), "large");
    put(full, "");
    std::filesystem::resize_file(full, static_cast<std::uintmax_t>(Quota{}.vault_bytes));
    model::Plan roots = link_plan("root");
    roots.owner = "root";
    EXPECT_THAT(applied(roots, kRootCaller), IsState(PlanState::done)) << "root has no quota";
}

TEST_F(QuotaOfEngine, TakesNoSecretThatIsNoKey) {
    engine.allow({.directories = {{"secret-file", {"/etc"}}}});
    const std::string large(std::size_t{65} * 1024, 'k');
    const std::string digest = sha256(large);
    const std::string source = scratch_.top() / "source";
    put(source, large);
    std::vector<Content> contents;
    contents.push_back({digest, Fd{::open(source.c_str(), O_RDONLY | O_CLOEXEC)}});
    const model::SecretFile file{.path = "/etc/secret", .handle = "h", .digest = digest};
    EXPECT_THAT(engine.accept({"p", "machine-1", {file}}, contents, kAgentCaller),
                IsError(Code::invalid, "more than"));
}

model::SecretFile secret_at(int number, const std::string& digest) {
    return {.path = fmt::format("/etc/secret-{}", number), .handle = "h", .digest = digest};
}

/// Files with the same content.
void fill_files(const std::string& directory, int count, const std::string& digest) {
    auto journal = Journal::open(directory, {});
    ASSERT_TRUE(journal) << journal.error().what;
    StepChanges changes;
    for (int i = 0; i < count; ++i) {
        const model::SecretFile file = secret_at(i, digest);
        changes.prepared.push_back({.index = static_cast<std::uint32_t>(i),
                                    .type = "secret-file",
                                    .target = file.path,
                                    .step = model::to_json(file),
                                    .written = "",
                                    .pre_image = "none"});
    }
    ASSERT_THAT(journal->begin({.id = "filled", .owner = "machine-1", .document = "{}"},
                               static_cast<std::uint32_t>(count)),
                IsOk());
    ASSERT_THAT(journal->record("filled", changes), IsOk());
    ASSERT_THAT(journal->end("filled", {PlanState::done, ""}), IsOk());
}

/// The vault has the content once, the host has it at each path.
TEST_F(QuotaOfEngine, CountsTheSameContentAtEveryPath) {
    engine.allow({.directories = {{"secret-file", {"/etc"}}}});
    const std::string key(std::size_t{64} * 1024, 'k');
    const std::string digest = sha256(key);
    const std::string source = scratch_.top() / "source";
    put(source, key);
    const int most = static_cast<int>(Quota{}.file_bytes / static_cast<std::int64_t>(key.size()));
    fill_files(state(), most - 1, digest);
    const auto offered = [&](const std::string& id, std::vector<model::Step> steps) {
        std::vector<Content> contents;
        contents.push_back({digest, Fd{::open(source.c_str(), O_RDONLY | O_CLOEXEC)}});
        return engine.accept({id, "machine-1", std::move(steps)}, contents, kAgentCaller);
    };
    EXPECT_THAT(offered("more", {secret_at(most, digest), secret_at(most + 1, digest)}),
                IsError(Code::exhausted,
                        "bytes in files: at most 67108864, used 67043328, needed "
                        "131072"));
    EXPECT_THAT(offered("last", {secret_at(0, digest), secret_at(most, digest)}), IsOk());
}

TEST_F(QuotaOfEngine, DoesNotAuditEveryReturnThatIsStoppedAtOnce) {
    ASSERT_THAT(applied(link_plan("first")), IsState(PlanState::done));
    std::stop_source stopped;
    stopped.request_stop();
    for (int i = 0; i < 100; ++i) {
        const auto undo = engine.accept_undo(fmt::format("undo-{}", i), "machine-1", kAgentCaller);
        ASSERT_TRUE(undo) << undo.error().what;
        ASSERT_THAT(carried_out(*undo, {.cancel = stopped.get_token()}),
                    IsState(PlanState::cancelled));
    }
    EXPECT_EQ(audit_trail().size(), 1 + AuditQueue::kMaxOfOneSubject + 1);
}

}  // namespace
}  // namespace kubexm::executor
