#include "daemon/base/io.hpp"
#include "service_host.hpp"

// Root's bootstrap kubeconfig reaches a subscriber, by descriptor.

namespace kubexm::executor {
namespace {

using testing::HasSubstr;
using testing::Not;

class BootstrapWatchTest : public ServiceHost {
protected:
    BootstrapWatchTest() { fs::create_directories(scratch_.at("/etc/kubexm")); }

    fs::path file() const { return scratch_.at("/etc/kubexm/bootstrap-kubeconfig"); }
    void write(const std::string& content) const { std::ofstream(file()) << content; }
    void replace(const std::string& content) const {
        std::ofstream(file().string() + ".new") << content;
        fs::rename(file().string() + ".new", file());
    }
    WireClient subscribed() {
        WireClient client = greeted();
        client.send(5, wire::Subscribe{});
        return client;
    }
    static wire::BootstrapKubeconfig next(WireClient& client) {
        for (;;) {
            const auto event = client.received();
            if (const auto* found = std::get_if<wire::BootstrapKubeconfig>(&event.reply)) {
                return *found;
            }
        }
    }
    /// Several writes may be seen one by one.
    static std::string content_after(WireClient& client, const std::string& expected) {
        std::string text;
        while (text != expected) {
            const auto event = next(client);
            text = event.content == nullptr
                       ? event.problem
                       : must(read_whole(event.content->get(), "content", 1U << 20U));
        }
        return text;
    }
};

TEST_F(BootstrapWatchTest, ASubscriberGetsItAtOnceAndAgainWhenItIsReplaced) {
    write("first");
    WireClient client = subscribed();
    EXPECT_EQ(content_after(client, "first"), "first");
    replace("second");
    EXPECT_EQ(content_after(client, "second"), "second");
    write("third");
    EXPECT_EQ(content_after(client, "third"), "third");
}

TEST_F(BootstrapWatchTest, OneThatAppearsIsPassedOn) {
    fs::remove(scratch_.at("/etc/kubexm"));
    WireClient client = subscribed();
    EXPECT_EQ(next(client).content, nullptr);
    fs::create_directory(scratch_.at("/etc/kubexm"));
    write("appeared");
    EXPECT_EQ(content_after(client, "appeared"), "appeared");
}

TEST_F(BootstrapWatchTest, ItsContentIsInNoFrame) {
    write("token-in-a-file");
    WireClient client = subscribed();
    const auto event = next(client);
    ASSERT_NE(event.content, nullptr);
    EXPECT_THAT(wire::to_json(event), Not(HasSubstr("token-in-a-file")));
    EXPECT_LT(::write(event.content->get(), "x", 1), 0) << "the receiver can change it";
}

TEST_F(BootstrapWatchTest, OneThatCannotBeReadIsNamed) {
    fs::create_directory(file());
    WireClient client = subscribed();
    const auto event = next(client);
    EXPECT_EQ(event.content, nullptr);
    EXPECT_THAT(event.problem, HasSubstr("/etc/kubexm/bootstrap-kubeconfig"));
}

TEST_F(BootstrapWatchTest, OneThatIsTooLargeIsNamed) {
    write(std::string((1U << 20U) + 1, 'x'));
    WireClient client = subscribed();
    EXPECT_THAT(next(client).problem, HasSubstr("at most 1048576 bytes"));
}

}  // namespace
}  // namespace kubexm::executor
