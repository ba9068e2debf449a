#include "harness.hpp"

#include <algorithm>

namespace kubexm::agent {

namespace {

constexpr int kMostTurns = 20000;  // reached only by a loop that never becomes idle

}  // namespace

namespace {

struct SimulatedLookup : Loop::Source {
    std::shared_ptr<int> alive = std::make_shared<int>();
};

}  // namespace

Harness::Harness() {
    facts_.name = "h1";
    facts_.machine_id = "m1";
    directory_.write("bootstrap", management_.kubeconfig("abc.def"));
    for (SimulatedCluster* each : {&management_, &workload_, &other_}) {
        each->ahead = [this] {
            return std::chrono::floor<std::chrono::seconds>(time_.now() -
                                                            std::chrono::system_clock::now());
        };
    }
    executor_.now = [this] { return std::chrono::system_clock::to_time_t(time_.now()); };
    executor_.on_done = [this](const model::Plan& plan) {
        if (plan.purpose == model::PlanPurpose::join) set_node("True");
    };
}

void Harness::start() {
    begin();
    settle();
}

void Harness::begin() {
    auto connect =
        [this](const kube::ClusterCredentials& credentials) -> Result<std::unique_ptr<kube::Api>> {
        for (SimulatedCluster* each : {&workload_, &other_}) {
            if (credentials.server == each->server()) return each->connect(credentials);
        }
        return management_.connect(credentials);
    };
    agent_ = must(Agent::create(
        loop_,
        {.version = "0.1.0",
         .state = directory_.path(),
         .namespace_ = "default",
         .bootstrap_kubeconfig = directory_ / "bootstrap",
         .on_change =
             [this](const model::Snapshot& next) {
                 if (phases_.empty() || phases_.back() != next.phase) phases_.push_back(next.phase);
             }},
        facts(),
        {.executor = executor_,
         .connect = connect,
         .clock = [this] { return time_.now(); },
         .random = [this] { return random_(); },
         .look_up = [this](Loop&, const std::string&,
                           std::function<void()> done) { return answer_lookup(std::move(done)); },
         .read_facts = [this](const std::string&) -> Result<model::HostFacts> { return facts(); },
         .read_name = [this]() -> Result<std::string> { return facts_.name; }}));
    agent_->on_executor(executor_.connected ? Result<>() : fail(Code::unavailable, "no executor"));
    agent_->start();
}

model::HostFacts Harness::facts() const {
    model::HostFacts facts = facts_;
    facts.interfaces = interfaces_of(links_);
    return facts;
}

void Harness::restart() {
    agent_.reset();
    start();
}

void Harness::settle() {
    for (int turn = 0; must(loop_.turn()); ++turn) {
        ASSERT_LT(turn, kMostTurns) << "the loop never becomes idle";
    }
}

bool Harness::turn(int turns) {
    for (int i = 0; i < turns; ++i) {
        if (!must(loop_.turn())) return false;
    }
    return true;
}

void Harness::advance(std::chrono::seconds duration) {
    time_.advance(duration, [this] { settle(); });
}

void Harness::make_secret(const std::string& kubelet_config) {
    make_secret_in(management_, kubelet_config);
}

void Harness::make_secret_in(SimulatedCluster& cluster, const std::string& kubelet_config) {
    json data{{"bootstrap-kubeconfig", base64(workload_.kubeconfig("token"))}};
    if (!kubelet_config.empty()) data["kubelet-config.yaml"] = base64(kubelet_config);
    cluster.put(kSecret, {{"metadata", {{"name", "workers-1-bootstrap"}}}, {"data", data}});
}

void Harness::assign(const std::string& uid, const std::string& name) {
    patch_assignment(uid, name);
    settle();
}

void Harness::patch_assignment(const std::string& uid, const std::string& name) {
    patch_assignment_in(management_, uid, name);
}

void Harness::patch_assignment_in(SimulatedCluster& cluster, const std::string& uid,
                                  const std::string& name) {
    cluster.patch(
        kHost,
        {{"metadata",
          {{"labels",
            {{"cluster.x-k8s.io/cluster-name", "blue"},
             {"byoh.infrastructure.cluster.x-k8s.io/byomachine-name", "default." + name}}},
           {"annotations", {{"byoh.infrastructure.cluster.x-k8s.io/k8sversion", "v1.34.1"}}}}},
         {"spec",
          {{"joinMode", "tlsBootstrap"},
           {"bootstrapSecret", {{"namespace", "default"}, {"name", "workers-1-bootstrap"}}}}},
         {"status", {{"machineRef", {{"namespace", "default"}, {"name", name}, {"uid", uid}}}}}});
}

void Harness::ask_for_release() {
    patch_release();
    settle();
}

void Harness::patch_release() { patch_release(""); }

void Harness::withdraw_release() {
    patch_release(nullptr);
    settle();
}

void Harness::patch_release(const json& value) {
    management_.patch(
        kHost,
        {{"metadata",
          {{"annotations", {{"byoh.infrastructure.cluster.x-k8s.io/unregistering", value}}}}}});
}

void Harness::join() {
    start();
    make_secret();
    assign();
    advance(std::chrono::seconds(10));
    ASSERT_EQ(phase(), model::Phase::joined);
}

model::Condition Harness::shown(std::string_view type) const {
    const auto all = snapshot().conditions;
    const auto found = std::ranges::find(all, type, &model::Condition::type);
    return found == all.end() ? model::Condition{} : *found;
}

model::Condition Harness::reported(std::string_view type) {
    for (const json& each :
         management_.find(kHost)->value("/status/conditions"_json_pointer, json::array())) {
        if (each.at("type") != type) continue;
        return {std::string(type),
                from_name<model::ConditionStatus>(each.at("status").get<std::string>())
                    .value_or(model::ConditionStatus::unknown),
                each.value("severity", ""),
                each.value("reason", ""),
                each.value("message", ""),
                each.value("lastTransitionTime", "")};
    }
    return {};
}

std::vector<nlohmann::json> Harness::events(const std::string& reason) const {
    auto found = management_.all(kEvents);
    std::erase_if(found, [&](const json& each) { return each.at("reason") != reason; });
    return found;
}

std::size_t Harness::count_requests(const SimulatedCluster& cluster,
                                    const std::string& text) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        cluster.requests,
        [&](const std::string& each) { return each.find(text) != std::string::npos; }));
}

void Harness::set_node(const char* ready) {
    json node = workload_.find(kNode) == nullptr ? json{{"metadata", {{"name", "h1"}}}}
                                                 : *workload_.find(kNode);
    node.merge_patch({{"spec", {{"providerID", "byoh://h1"}}},
                      {"status",
                       {{"nodeInfo",
                         {{"machineID", "m1"},
                          {"kubeletVersion", "v1.34.1"},
                          {"containerRuntimeVersion", "containerd://1.7"}}},
                        {"conditions", json::array({{{"type", "Ready"},
                                                     {"status", ready},
                                                     {"message", "kubelet says so"}}})}}}});
    workload_.put(kNode, std::move(node));
}

std::string Harness::path_of(const std::string& pod) {
    return "/api/v1/namespaces/default/pods/" + pod;
}

void Harness::put_pod(const std::string& name, const json& more) {
    json pod{{"metadata", {{"namespace", "default"}, {"name", name}}},
             {"status", {{"phase", "Running"}}}};
    pod.merge_patch(more);
    workload_.put(path_of(name), pod);
}

Result<std::string> Harness::command(model::Verb verb,
                                     std::optional<std::chrono::seconds> duration) {
    return command({.verb = verb,
                    .duration = duration,
                    .uid = kPerson,
                    .listener = "control",
                    .id = "",
                    .certificate = ""});
}

Result<std::string> Harness::command(model::Command command) {
    Result<std::string> answer = fail(Code::internal, "no answer");
    agent_->submit(std::move(command), [&](Result<std::string> text) { answer = std::move(text); });
    settle();
    return answer;
}

void Harness::lose_executor() {
    agent_->on_executor(fail(Code::unavailable, "connection lost"));
    executor_.lose_connection();
    settle();
}

void Harness::regain_executor() {
    agent_->on_executor({});
    executor_.regain_connection();
    settle();
}

void Harness::begin(model::Verb verb) {
    agent_->submit({.verb = verb, .duration = {}, .uid = 0, .listener = "", .id = ""},
                   [](const Result<std::string>& text) { ASSERT_TRUE(text); });
}

void Harness::kill_before_executor_is_asked() {
    agent_.reset();
    executor_.connected = false;
    settle();
    executor_.drop_waiting();
    executor_.connected = true;
}

Result<Loop::Handle> Harness::answer_lookup(std::function<void()> done) {
    auto lookup = std::make_unique<SimulatedLookup>();
    if (!answers_lookups_) return lookup;
    loop_.post([done = std::move(done), alive = std::weak_ptr<int>(lookup->alive)] {
        if (!alive.expired()) done();
    });
    return lookup;
}

}  // namespace kubexm::agent
