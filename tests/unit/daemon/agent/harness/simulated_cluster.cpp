#include "simulated_cluster.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "daemon/base/base64.hpp"
#include "daemon/kube/signing.hpp"

namespace kubexm::agent {

using json = nlohmann::json;
using kube::Answer;
using kube::Failure;

namespace {

struct Handle : kube::Api::Pending {
    std::shared_ptr<int> alive = std::make_shared<int>();
};

std::string without_query(const std::string& target) { return target.substr(0, target.find('?')); }

/// Of "...?fieldSelector=metadata.name%3Dh1&watch=true"; empty: no such selector.
std::string selected_name(const std::string& target) {
    constexpr std::string_view kSelector = "fieldSelector=metadata.name%3D";
    const auto begin = target.find(kSelector);
    if (begin == std::string::npos) return "";
    const auto name = target.substr(begin + kSelector.size());
    return name.substr(0, name.find('&'));
}

/// Of "...&resourceVersion=12"; 0: none.
long version_in(const std::string& target) {
    constexpr std::string_view kVersion = "resourceVersion=";
    const auto begin = target.find(kVersion);
    return begin == std::string::npos ? 0 : std::stol(target.substr(begin + kVersion.size()));
}

constexpr std::string_view kEviction = "/eviction";

bool is_pod(const std::string& path) { return path.find("/pods/") != std::string::npos; }

std::string without_status(std::string path) {
    constexpr std::string_view kStatus = "/status";
    if (path.ends_with(kStatus)) path.resize(path.size() - kStatus.size());
    return path;
}

std::unexpected<Failure> failure(Code code, int status, const std::string& reason,
                                 const std::string& target) {
    return std::unexpected(Failure{.error = {code, fmt::format("{} ({})", target, reason)},
                                   .status = status,
                                   .reason = reason});
}

Code code_of(int status) {
    if (status == 401 || status == 403) return Code::denied;
    if (status == 404) return Code::not_found;
    if (status == 409) return Code::conflict;
    return Code::unavailable;
}

}  // namespace

class SimulatedApi : public kube::Api {
public:
    SimulatedApi(SimulatedCluster& cluster, SimulatedCluster::Client client)
        : cluster_(cluster), client_(std::move(client)) {}

    const std::string& server() const override { return cluster_.server_; }
    std::optional<std::chrono::seconds> clock_offset() const override {
        return cluster_.clock_offset;
    }
    void use_certificate(std::string certificate, Secret) override {
        cluster_.used_certificates.push_back(std::move(certificate));
    }
    kube::Api::Handle get(std::string path, Callback callback) override {
        return ask("GET", std::move(path), {}, std::move(callback));
    }
    kube::Api::Handle post(std::string path, const json& body, Callback callback) override {
        return ask("POST", std::move(path), body, std::move(callback));
    }
    kube::Api::Handle merge_patch(std::string path, const json& patch, Callback callback) override {
        return ask("PATCH", std::move(path), patch, std::move(callback));
    }
    kube::Api::Handle remove(std::string path, const json& options, Callback callback) override {
        return ask("DELETE", std::move(path), options, std::move(callback));
    }
    kube::Api::Handle stream(std::string path, std::chrono::seconds, LineCallback line,
                             EndCallback end) override {
        auto handle = std::make_unique<agent::Handle>();
        auto watcher = std::make_shared<SimulatedCluster::Watcher>(
            SimulatedCluster::Watcher{without_query(path),
                                      selected_name(path),
                                      std::move(line),
                                      std::move(end),
                                      handle->alive,
                                      {}});
        cluster_.loop_.post([&cluster = cluster_, client = client_, watcher, path] {
            if (watcher->alive.expired()) return;
            if (!cluster.available_) {
                return watcher->end(cluster.no_connection(path));
            }
            if (auto permitted = cluster.permit(client, path); !permitted) {
                return watcher->end(permitted);
            }
            cluster.watchers_.push_back(watcher);
            watcher->line("");
            cluster.replay(watcher, version_in(path));
        });
        return handle;
    }

private:
    /// As with a real server, the request takes effect, also where the client is gone by then, and
    /// the answer comes later.
    kube::Api::Handle ask(const char* verb, std::string target, json body, Callback callback) {
        auto handle = std::make_unique<agent::Handle>();
        cluster_.loop_.post([&cluster = cluster_, client = client_, verb = std::string(verb),
                             target = std::move(target), body = std::move(body),
                             callback = std::move(callback),
                             alive = std::weak_ptr<int>(handle->alive)]() mutable {
            if (cluster.is_silent(target)) {
                return cluster.let_wait(target, alive, std::move(callback));
            }
            auto answer = cluster.answer(client, verb, target, body);
            const int late = verb == "PATCH" ? std::exchange(cluster.late_turns, 0) : 0;
            SimulatedCluster::after_turns(
                cluster.loop_, late + cluster.lateness(),
                [callback = std::move(callback), answer = std::move(answer),
                 alive = std::move(alive)]() mutable {
                    if (!alive.expired()) callback(std::move(answer));
                });
        });
        return handle;
    }

    SimulatedCluster& cluster_;
    SimulatedCluster::Client client_;
};

SimulatedCluster::SimulatedCluster(Loop& loop, std::string server)
    : loop_(loop), server_(std::move(server)), authority_(server_) {}

std::unique_ptr<kube::Api> SimulatedCluster::connect(const kube::ClusterCredentials& credentials) {
    ++connections;
    return std::make_unique<SimulatedApi>(
        *this, Client{std::string(credentials.token.reveal()), credentials.certificate});
}

void SimulatedCluster::refuse_certificates() {
    issued_.clear();
    set_available(false);
    set_available(true);
}

void SimulatedCluster::refuse_certificates_for_now() {
    accepts_certificates = false;
    set_available(false);
    set_available(true);
}

Answer<void> SimulatedCluster::permit(const Client& client, const std::string& path) const {
    const bool is_known = accepts_certificates && issued_.contains(client.certificate);
    if (path == "/version" || is_known) return {};
    const bool is_token = client.certificate.empty() && !client.token.empty() && accepts_tokens;
    if (!is_token) return failure(Code::denied, 401, "Unauthorized", path);
    if (path.starts_with(kube::kSigningPath)) return {};
    return failure(Code::denied, 403, "Forbidden", path);
}

std::string SimulatedCluster::kubeconfig(const std::string& token) const {
    return fmt::format(
        "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{{name: c, context: "
        "{{cluster: k, user: u}}}}]\nclusters: [{{name: k, cluster: {{server: \"{}\", "
        "certificate-authority-data: \"{}\"}}}}]\nusers: [{{name: u, user: {{token: {}}}}}]\n",
        server_, base64(ca()), token);
}

json* SimulatedCluster::find(const std::string& path) {
    const auto found = objects_.find(path);
    return found == objects_.end() ? nullptr : &found->second;
}

std::vector<json> SimulatedCluster::all(const std::string& collection) const {
    std::vector<json> found;
    for (const auto& [path, object] : objects_) {
        if (path.starts_with(collection + "/")) found.push_back(object);
    }
    return found;
}

void SimulatedCluster::put(const std::string& path, json object) {
    store(path, std::move(object), objects_.contains(path) ? "MODIFIED" : "ADDED");
}

void SimulatedCluster::patch(const std::string& path, const json& patch) {
    json object = objects_.at(path);
    object.merge_patch(patch);
    store(path, std::move(object), "MODIFIED");
}

void SimulatedCluster::erase(const std::string& path) {
    if (!objects_.contains(path)) return;
    json object = objects_.at(path);
    objects_.erase(path);
    object["metadata"]["resourceVersion"] = std::to_string(++version_);
    notify(path, "DELETED", object);
    erased_[path] = std::move(object);
}

void SimulatedCluster::restore(const std::string& path, json object, long version) {
    version_ = version;
    store(path, std::move(object), "MODIFIED");
}

void SimulatedCluster::set_available(bool available) {
    available_ = available;
    if (available) return;
    auto ended = std::move(watchers_);
    watchers_.clear();
    for (const auto& watcher : ended) {
        if (watcher->alive.expired()) continue;
        watcher->end(no_connection(watcher->collection));
    }
}

std::unexpected<Failure> SimulatedCluster::no_connection(const std::string& target) const {
    auto lost = failure(Code::unavailable, 0, "no connection", target);
    lost.error().untrusted = untrusted;
    return lost;
}

bool SimulatedCluster::is_silent(const std::string& target) const {
    return !silent_path.empty() && target.find(silent_path) != std::string::npos;
}

void SimulatedCluster::let_wait(const std::string& target, std::weak_ptr<int> alive,
                                kube::Api::Callback callback) {
    requests.push_back("no answer " + target);
    auto timer = loop_.after(kPatience, [this, target, alive = std::move(alive),
                                         callback = std::move(callback)]() mutable {
        if (!alive.expired()) callback(no_connection(target));
    });
    silences_.push_back(std::move(timer.value()));
}

void SimulatedCluster::store(const std::string& path, json object, const char* event) {
    object["metadata"]["resourceVersion"] = std::to_string(++version_);
    if (!object["metadata"].contains("uid")) {
        object["metadata"]["uid"] = fmt::format("uid-{}", version_);
    }
    objects_[path] = object;
    notify(path, event, object);
    on_change(path);
}

void SimulatedCluster::notify(const std::string& path, const char* event, const json& object) {
    for (const auto& watcher : watchers_) {
        if (is_mute) return;
        if (watcher->collection + "/" + watcher->name != path) continue;
        send(watcher, json{{"type", event}, {"object", object}}.dump());
    }
}

void SimulatedCluster::send(const std::shared_ptr<Watcher>& watcher, std::string line) {
    watcher->lines.push_back(std::move(line));
    if (watcher->lines.size() == 1) deliver_lines(watcher);
}

/// In their order.
void SimulatedCluster::deliver_lines(const std::shared_ptr<Watcher>& watcher) {
    after_turns(loop_, lateness(), [this, watcher] {
        if (watcher->alive.expired()) return;
        watcher->line(watcher->lines.front());
        watcher->lines.pop_front();
        if (!watcher->lines.empty()) deliver_lines(watcher);
    });
}

void SimulatedCluster::after_turns(Loop& loop, int turns, Loop::Callback task) {
    loop.post([&loop, turns, task = std::move(task)]() mutable {
        if (turns == 0) return task();
        after_turns(loop, turns - 1, std::move(task));
    });
}

/// What happened between a version and the watch that begins with it.
void SimulatedCluster::replay(const std::shared_ptr<Watcher>& watcher, long since) {
    const std::string path = watcher->collection + "/" + watcher->name;
    const bool exists = objects_.contains(path);
    if (watcher->alive.expired() || (!exists && !erased_.contains(path))) return;
    const json& object = exists ? objects_.at(path) : erased_.at(path);
    const long version = std::stol(object["metadata"]["resourceVersion"].get<std::string>());
    if (version <= since) return;
    send(watcher, json{{"type", exists ? "MODIFIED" : "DELETED"}, {"object", object}}.dump());
}

Answer<json> SimulatedCluster::answer(const Client& client, const std::string& verb,
                                      const std::string& target, const json& body) {
    requests.push_back(verb + " " + target);
    const bool fails = fail_in == 1;
    fail_in = std::max(0, fail_in - 1);
    if (!available_ || fails) return no_connection(target);
    if (auto permitted = permit(client, target); !permitted) {
        return std::unexpected(permitted.error());
    }
    if (refuse_status != 0 && target.find(refuse_path) != std::string::npos) {
        auto refused = failure(code_of(refuse_status), refuse_status, "Refused", target);
        refused.error().retry_after = retry_after;
        return refused;
    }
    const std::string path = without_status(without_query(target));
    if (path.ends_with(kEviction)) return evict(path.substr(0, path.size() - kEviction.size()));
    if (path == "/api/v1/pods") return list_pods(target);
    if (verb == "POST") return create(path, body);
    if (const std::string name = selected_name(target); !name.empty()) return list(path, name);
    if (!objects_.contains(path)) return failure(Code::not_found, 404, "NotFound", target);
    if (verb == "PATCH") return change(path, body);
    if (verb == "DELETE") {
        const json& uid = objects_.at(path).at("metadata").at("uid");
        if (body.value("/preconditions/uid"_json_pointer, uid) != uid) {
            return failure(Code::conflict, 409, "Conflict", target);
        }
        is_pod(path) ? end_pod(path) : erase(path);
        return json::object();
    }
    return objects_.at(path);
}

Answer<json> SimulatedCluster::evict(const std::string& pod) {
    const bool is_protected = std::ranges::any_of(
        budgets, [&](const std::string& name) { return pod.ends_with("/" + name); });
    if (is_protected) return failure(Code::unavailable, 429, "TooManyRequests", pod);
    if (!objects_.contains(pod)) return failure(Code::not_found, 404, "NotFound", pod);
    end_pod(pod);
    return json::object();
}

void SimulatedCluster::end_pod(const std::string& path) {
    if (ends_pods) return erase(path);
    patch(path, {{"metadata", {{"deletionTimestamp", "2026-01-01T00:00:00Z"}}}});
}

/// Two in a page.
json SimulatedCluster::list_pods(const std::string& target) const {
    const auto page = target.find("&continue=");
    const std::string after = page == std::string::npos ? "" : target.substr(page + 10);
    json list{{"items", json::array()}};
    if (!ends_lists) list["metadata"]["continue"] = "more";
    for (const auto& [path, object] : objects_) {
        const std::string name = path.substr(path.rfind('/') + 1);
        if (!is_pod(path) || name <= after) continue;
        list["items"].push_back(object);
        if (list["items"].size() < 2) continue;
        list["metadata"]["continue"] = name;
        break;
    }
    return list;
}

json SimulatedCluster::list(const std::string& collection, const std::string& name) const {
    json items = json::array();
    const auto found = objects_.find(collection + "/" + name);
    if (found != objects_.end()) items.push_back(found->second);
    return {{"metadata", {{"resourceVersion", std::to_string(version_)}}}, {"items", items}};
}

Answer<json> SimulatedCluster::create(const std::string& collection, json object) {
    const std::string path = collection + "/" + object.at("metadata").at("name").get<std::string>();
    if (objects_.contains(path)) return failure(Code::conflict, 409, "AlreadyExists", path);
    if (collection == kube::kSigningPath && approves) sign(object);
    store(path, object, "ADDED");
    return objects_.contains(path) ? objects_.at(path) : object;  // somebody may erase it at once
}

Answer<json> SimulatedCluster::change(const std::string& path, json patch) {
    json object = objects_.at(path);
    if (patch.contains("metadata") && patch["metadata"].contains("resourceVersion")) {
        if (patch["metadata"]["resourceVersion"] != object["metadata"]["resourceVersion"]) {
            ++conflicts;
            return failure(Code::conflict, 409, "Conflict", path);
        }
        patch["metadata"].erase("resourceVersion");
    }
    patches.emplace_back(path, patch);
    object.merge_patch(patch);
    store(path, std::move(object), "MODIFIED");
    return objects_.at(path);
}

void SimulatedCluster::approve_all() {
    for (auto& [path, object] : objects_) {
        if (!path.starts_with(kube::kSigningPath) || object.contains("status")) continue;
        json signed_request = object;
        sign(signed_request);
        store(path, std::move(signed_request), "MODIFIED");
    }
}

void SimulatedCluster::sign(json& request) {
    const std::string pem = from_base64(request["spec"]["request"].get<std::string>()).value();
    const bool is_node = request["spec"]["signerName"].get<std::string>().ends_with("-kubelet");
    const auto clock = ahead() + clock_offset.value_or(std::chrono::seconds(0));
    const Wanted wanted{
        .subject = is_node
                       ? std::vector<std::pair<const char*, std::string>>{{"O", "system:nodes"},
                                                                          {"CN", "system:node:h1"}}
                       : std::vector<std::pair<const char*, std::string>>{{"O", "byoh:hosts"},
                                                                          {"CN", "byoh:host:h1"}},
        .begins = clock - std::chrono::minutes(5),
        .ends = clock + lifetime,
        .extensions = {{NID_ext_key_usage, "clientAuth"}}};
    const std::string certificate = authority_.sign(pem, wanted);
    issued_.insert(certificate);
    request["status"] = {{"conditions", json::array({{{"type", "Approved"}, {"status", "True"}}})},
                         {"certificate", base64(certificate)}};
}

}  // namespace kubexm::agent
