#pragma once

#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "daemon/kube/api.hpp"
#include "tests/unit/test_authority.hpp"

namespace kubexm::agent {

/// An API server in memory: objects by path, versions, lists and watches by name, signing requests.
/// Certificates that it has issued may do all, tokens may only request a certificate.
class SimulatedCluster {
public:
    using json = nlohmann::json;
    SimulatedCluster(Loop& loop, std::string server);

    /// A client with these credentials.
    std::unique_ptr<kube::Api> connect(const kube::ClusterCredentials& credentials);
    const std::string& server() const { return server_; }
    std::string ca() const { return authority_.certificate(); }
    std::string kubeconfig(const std::string& token) const;

    json* find(const std::string& path);
    /// The objects of a collection.
    std::vector<json> all(const std::string& collection) const;
    void put(const std::string& path, json object);
    void patch(const std::string& path, const json& patch);
    void erase(const std::string& path);
    /// As after a restore from a backup: an object with an older version.
    void restore(const std::string& path, json object, long version);
    /// An outage: requests fail, watches end.
    void set_available(bool available);
    /// Those issued so far are refused from now on; watches end.
    void refuse_certificates();
    /// As an API server whose copy of the CA is away for a while.
    void refuse_certificates_for_now();

    bool approves = true;  // signing requests
    bool accepts_tokens = true;
    bool accepts_certificates = true;
    bool is_mute = false;              // watches stay open and bring nothing
    bool untrusted = false;            // why it is not available: its certificate is not trusted
    bool ends_lists = true;            // of pods
    bool ends_pods = true;             // those that were evicted or deleted; else they go on ending
    std::vector<std::string> budgets;  // names of pods that may not be evicted
    std::optional<std::chrono::seconds> clock_offset;
    int fail_in = 0;     // the n-th request from now fails, once; 0: none
    int late_turns = 0;  // of the loop, until the client reads the next answer to a PATCH
    /// Turns of the loop until the client reads an answer or the next line of a watch.
    std::function<int()> lateness = [] { return 0; };
    std::string silent_path;              // requests with this text in their path get no answer
    int refuse_status = 0;                // every request gets this status
    std::chrono::seconds retry_after{0};  // with that status
    std::string refuse_path;              // only requests with this text in their path; empty: all
    std::chrono::seconds lifetime = std::chrono::hours(365 * 24);
    /// The time of the test minus that of the machine.
    std::function<std::chrono::seconds()> ahead = [] { return std::chrono::seconds(0); };
    std::vector<std::string> requests;                  // "GET /api/v1/nodes/h1"
    std::vector<std::pair<std::string, json>> patches;  // by path
    int conflicts = 0;                                  // patches of an older version
    std::vector<std::string> used_certificates;         // by Api::use_certificate()
    int connections = 0;                                // so far
    std::function<void(const std::string& path)> on_change = [](const std::string&) {};

    /// Answers what was asked before; true: there was something.
    void approve_all();

    /// The client's patience ends.
    static constexpr std::chrono::seconds kPatience{30};
    static void after_turns(Loop& loop, int turns, Loop::Callback task);

private:
    friend class SimulatedApi;
    struct Client {
        std::string token;
        std::string certificate;
    };
    struct Watcher {
        std::string collection;
        std::string name;
        kube::Api::LineCallback line;
        kube::Api::EndCallback end;
        std::weak_ptr<int> alive;
        std::deque<std::string> lines;  // on their way
    };
    void store(const std::string& path, json object, const char* event);
    std::unexpected<kube::Failure> no_connection(const std::string& target) const;
    bool is_silent(const std::string& target) const;
    void let_wait(const std::string& target, std::weak_ptr<int> alive,
                  kube::Api::Callback callback);
    void sign(json& request);
    kube::Answer<void> permit(const Client& client, const std::string& path) const;
    void notify(const std::string& path, const char* event, const json& object);
    void replay(const std::shared_ptr<Watcher>& watcher, long since);
    void send(const std::shared_ptr<Watcher>& watcher, std::string line);
    void deliver_lines(const std::shared_ptr<Watcher>& watcher);

    kube::Answer<json> answer(const Client& client, const std::string& verb,
                              const std::string& target, const json& body);
    kube::Answer<json> evict(const std::string& pod);
    void end_pod(const std::string& path);
    json list_pods(const std::string& target) const;
    kube::Answer<json> create(const std::string& collection, json object);
    kube::Answer<json> change(const std::string& path, json patch);
    json list(const std::string& collection, const std::string& name) const;

    Loop& loop_;
    std::string server_;
    TestAuthority authority_;
    std::set<std::string> issued_;  // certificates
    bool available_ = true;
    long version_ = 100;
    std::map<std::string, json> objects_;
    std::map<std::string, json> erased_;  // as they were, with the version of their end
    std::list<std::shared_ptr<Watcher>> watchers_;
    std::list<Loop::Handle> silences_;
};

}  // namespace kubexm::agent
