// Files that another version has rendered.

#include "daemon/base/digest.hpp"
#include "daemon/executor/journal/journal.hpp"
#include "daemon/executor/journal/vault.hpp"
#include "daemon/executor/render/render.hpp"
#include "daemon/executor/steps/pre_image.hpp"
#include "engine_host.hpp"

namespace kubexm::executor {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

const std::string kPath = "/etc/modules-load.d/kubexm.conf";
const std::string kOlder = "overlay\n";  // without the first line of today's file

class RenderingTest : public EngineHost {
protected:
    RenderingTest() {
        fs::create_directories(scratch_.at("/etc/modules-load.d"));
        engine.allow({.modules = {"overlay"}});
    }
    /// As a version would that renders other bytes: it has accepted a plan, and this one resumes
    /// it.
    void apply_older(const std::vector<std::string>& modules, const std::string& content = kOlder,
                     model::Mode mode = {0644}) {
        const std::string digest = sha256(content);
        const model::Plan plan{
            "p0",
            "machine-1",
            {model::RenderedFile{model::ModulesFile{modules}, model::WrittenFile{digest, mode}}}};
        {
            auto journal = Journal::open(state(), {});
            ASSERT_THAT(journal, IsOk());
            ASSERT_THAT(journal->begin({.id = plan.id,
                                        .hash = model::hash_of(plan),
                                        .owner = plan.owner,
                                        .document = model::to_json(plan)},
                                       1),
                        IsOk());
            auto vault = Vault::open(state() + "/" + kVaultDirectory);
            ASSERT_THAT(vault, IsOk());
            ASSERT_THAT(vault->store(content, digest), IsOk());
        }
        const auto record = engine.interrupted();
        ASSERT_TRUE(record);
        ASSERT_THAT(carried_out(record->value_or(PlanRecord{})), IsState(PlanState::done));
        ASSERT_EQ(content_of(file()), content);
    }
    /// As one would that accepted what this one refuses: the ledger has it already.
    void own_refused(const std::vector<std::string>& modules) {
        const std::string digest = sha256(kOlder);
        const model::Step step =
            model::RenderedFile{model::ModulesFile{modules}, model::WrittenFile{digest, {0644}}};
        auto journal = Journal::open(state(), {});
        ASSERT_THAT(journal, IsOk());
        ASSERT_THAT(journal->begin({.id = "p0", .hash = "h", .owner = "machine-1"}, 1), IsOk());
        const PreparedStep prepared{.index = 0,
                                    .type = std::string(model::type_of(step)),
                                    .target = model::target_of(step),
                                    .step = model::to_json(step),
                                    .written = digest,
                                    .pre_image = to_json(PreImage(PathPreImage{}))};
        ASSERT_THAT(journal->record("p0", {.prepared = {prepared}}), IsOk());
        ASSERT_THAT(journal->record("p0", {.ended = {{0, StepState::done}}}), IsOk());
        ASSERT_THAT(journal->end("p0", {.state = PlanState::done}), IsOk());
        put(file(), kOlder);
    }
    fs::path file() const { return scratch_.at(kPath); }
    std::vector<Drifted> drift() {
        auto report = engine.drift();
        EXPECT_THAT(report, IsOk());
        return report ? report->objects : std::vector<Drifted>{};
    }
    std::map<std::string, std::vector<std::string>> pending() {
        auto found = engine.pending_renderings();
        EXPECT_THAT(found, IsOk());
        return found.value_or(std::map<std::string, std::vector<std::string>>{});
    }
};

TEST_F(RenderingTest, OfThisVersionIsNotPending) {
    EXPECT_THAT(
        applied({"p1", "machine-1", {model::RenderedFile{model::ModulesFile{{"overlay"}}}}}),
        IsState(PlanState::done));
    EXPECT_NE(content_of(file()), kOlder);
    EXPECT_THAT(pending(), IsEmpty());
}

TEST_F(RenderingTest, OfAnotherVersionIsPendingAndNoDrift) {
    apply_older({"overlay"});
    EXPECT_THAT(drift(), IsEmpty());
    EXPECT_THAT(engine.accept_repair("r1", "machine-1", kAgentCaller),
                IsError(Code::not_found, "no drift"));
    EXPECT_THAT(pending(), ElementsAre(Pair("machine-1", ElementsAre("file " + kPath))));
}

TEST_F(RenderingTest, WithAnotherModeIsPendingAndNoDrift) {
    const auto rendered = render(model::ModulesFile{{"overlay"}});
    ASSERT_THAT(rendered, IsOk());
    apply_older({"overlay"}, rendered->content, {0640});
    EXPECT_THAT(drift(), IsEmpty());
    EXPECT_THAT(pending(), SizeIs(1));
    fs::permissions(file(), fs::perms(0644));
    EXPECT_THAT(drift(), SizeIs(1));
}

TEST_F(RenderingTest, OfAnotherVersionIsRepairedWithItsOwnBytes) {
    apply_older({"overlay"});
    put(file(), "other");
    EXPECT_THAT(drift(), SizeIs(1));
    EXPECT_THAT(pending(), IsEmpty()) << "the file is not as applied";
    const auto record = engine.accept_repair("r1", "machine-1", kAgentCaller);
    ASSERT_THAT(record, IsOk());
    EXPECT_THAT(carried_out(*record), IsState(PlanState::done));
    EXPECT_EQ(content_of(file()), kOlder);
    EXPECT_THAT(pending(), SizeIs(1));
}

TEST_F(RenderingTest, OfAnotherVersionIsReplacedByTheNextPlan) {
    apply_older({"overlay"});
    EXPECT_THAT(
        applied({"p1", "machine-1", {model::RenderedFile{model::ModulesFile{{"overlay"}}}}}),
        IsState(PlanState::done));
    EXPECT_NE(content_of(file()), kOlder);
    EXPECT_THAT(pending(), IsEmpty());
    EXPECT_THAT(drift(), IsEmpty());
}

TEST_F(RenderingTest, ThatThisVersionRefusesIsNoDrift) {
    own_refused({"no such; name"});
    EXPECT_THAT(drift(), IsEmpty());
    EXPECT_THAT(pending(), IsEmpty());
}

}  // namespace
}  // namespace kubexm::executor
