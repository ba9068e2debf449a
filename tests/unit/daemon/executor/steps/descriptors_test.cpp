#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "../host/systemd_test.hpp"
#include "daemon/base/digest.hpp"
#include "daemon/executor/steps/steps.hpp"

namespace kubexm::executor {
namespace {

/// This process may open so many files more.
class FewDescriptors {
public:
    explicit FewDescriptors(rlim_t more) {
        EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
        const Fd lowest{::open("/", O_PATH | O_CLOEXEC)};
        const rlimit few{static_cast<rlim_t>(lowest.get()) + more, before_.rlim_max};
        EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
    }
    FewDescriptors(const FewDescriptors&) = delete;
    FewDescriptors& operator=(const FewDescriptors&) = delete;
    ~FewDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

private:
    rlimit before_{};
};

class WithoutDescriptors : public SystemdTest {
protected:
    void replace() {
        fs::create_symlink("precious", scratch_.at("/theirs"));
        Context context = working();
        before_ = capture(context, model::AbsentPath{"/theirs"}).value();
        fs::remove(scratch_.at("/theirs"));
        put(scratch_.at("/theirs"), "ours");
    }
    Result<std::string> undo_with(rlim_t descriptors) {
        Context context = working();
        context.written = {sha256("ours")};
        const model::DataFile step{"/theirs", model::DataKind::ca_bundle, sha256("ours"), {}};
        const FewDescriptors few(descriptors);
        return undo(context, step, before_);
    }
    Context working() { return {root_, systemd, vault_, soon(), {}}; }

    Scratch scratch_;
    Root root_ = scratch_.root();
    Vault vault_ = Vault::open(scratch_.top() / "vault").value();
    PreImage before_;
};

/// A file that cannot be read is not one that others have changed.
TEST_F(WithoutDescriptors, AnUndoFailsAndIsDoneLater) {
    int failures = 0;
    replace();
    for (rlim_t descriptors = 0;; ++descriptors) {
        const auto undone = undo_with(descriptors);
        if (undone) {
            EXPECT_EQ(*undone, "");
            break;
        }
        ++failures;
        EXPECT_EQ(undone.error().code, Code::exhausted) << undone.error().what;
    }
    EXPECT_GT(failures, 2);
    EXPECT_EQ(fs::read_symlink(scratch_.at("/theirs")), "precious");
}

}  // namespace
}  // namespace kubexm::executor
