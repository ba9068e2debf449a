#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/config/config.hpp"
#include "daemon/config/executor_config.hpp"
#include "tests/unit/daemon/config/scratch.hpp"

namespace kubexm::config {
namespace {

TEST(Effective, ShowsEveryValueAndItsFile) {
    EXPECT_EQ(effective(Config{}),
              "log:\n"
              "  level: info\n"
              "management:\n"
              "  bootstrap_kubeconfig: \"\"\n"
              "  namespace: default\n"
              "host:\n"
              "  name: \"\"\n"
              "release:\n"
              "  pods_timeout: 2m\n"
              "api:\n"
              "  listen: 127.0.0.1:10240\n"
              "executor:\n"
              "  socket: /run/kubexm-executor/executor.sock\n"
              "state: /var/lib/kubexm\n");
    const Scratch scratch;
    const std::string file = scratch.write("a.yaml", "log: {level: debug}\nstate: /srv\n");
    const std::string drop_in = scratch.write("d/b.yaml", "state: '/x: #y'\n");
    EXPECT_EQ(effective(load(file, scratch.path("d")).value()),
              "log:\n"
              "  level: debug  # " +
                  file +
                  "\n"
                  "management:\n"
                  "  bootstrap_kubeconfig: \"\"\n"
                  "  namespace: default\n"
                  "host:\n"
                  "  name: \"\"\n"
                  "release:\n"
                  "  pods_timeout: 2m\n"
                  "api:\n"
                  "  listen: 127.0.0.1:10240\n"
                  "executor:\n"
                  "  socket: /run/kubexm-executor/executor.sock\n"
                  "state: \"/x: #y\"  # " +
                  drop_in + "\n");
}

TEST(Effective, CanBeReadAgain) {
    Config config;
    config.log.level = log::Level::warning;
    config.state = "/a \"b\" : 'c'/节点";
    config.origins = {{"state", "/etc/kubexm/\nlog: {level: debug}"}};
    const Scratch scratch;
    const std::string text = effective(config);
    EXPECT_THAT(text, testing::HasSubstr("  # /etc/kubexm/\\nlog: {level: debug}\n"));
    auto again = load(scratch.write("a.yaml", text), scratch.path("none"));
    ASSERT_TRUE(again) << again.error().what;
    again->origins = config.origins;
    EXPECT_EQ(*again, config);
}

TEST(Effective, SaysWhatAListOfTheExecutorMeansThatRootLeftOut) {
    ExecutorConfig config;
    config.allow.modules = {};
    config.origins["allow.modules"] = "executor.yaml";
    config.origins["allow.registries"] = "executor.yaml";
    const std::string text = effective(config);
    EXPECT_THAT(text, testing::HasSubstr("clusters:\n    - \"*\"  # any API server\n"));
    EXPECT_THAT(text, testing::HasSubstr("# executor.yaml: any registry with TLS\n"));
    EXPECT_THAT(text, testing::HasSubstr("- cni0  # not set: the documented default\n"));
    EXPECT_THAT(text, testing::HasSubstr("modules:\n    []  # executor.yaml\n"));
}

}  // namespace
}  // namespace kubexm::config
