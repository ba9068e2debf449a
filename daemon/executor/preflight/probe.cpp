#include "daemon/executor/preflight/probe.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>

#include "daemon/base/io.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/host/listeners.hpp"
#include "daemon/executor/host/program.hpp"
#include "daemon/executor/host/runtime.hpp"
#include "daemon/executor/host/unit_status.hpp"
#include "daemon/executor/render/documents.hpp"
#include "daemon/executor/render/unit_text.hpp"

namespace kubexm::executor {

namespace {

namespace fs = std::filesystem;

constexpr const char* kUnit = "kubelet.service";
constexpr const char* kKubelet = "/usr/local/bin/kubelet";
constexpr std::uint16_t kKubeletPort = 10250;
constexpr std::size_t kMaxText = std::size_t{16} << 20U;
constexpr std::size_t kMaxVersion = 4096;
constexpr std::size_t kMaxEntries = 1000;

std::string text_of(const std::string& path) { return read_file(path, kMaxText).value_or(""); }

bool is_ours(const std::string& file) { return text_of(file).find(kNotice) != std::string::npos; }

/// The visible entries of a directory, as paths; none: absent.
std::vector<std::string> entries_of(const std::string& directory) {
    std::vector<std::string> paths;
    std::error_code problem;
    for (fs::directory_iterator entry(directory, problem), end; !problem && entry != end;
         entry.increment(problem)) {
        const bool is_hidden = entry->path().filename().string().starts_with('.');
        if (!is_hidden && paths.size() < kMaxEntries) paths.push_back(entry->path().string());
    }
    std::ranges::sort(paths);
    return paths;
}

/// The unit files that hide ours, and the drop-ins: those on the disk, also of a unit that has no
/// file yet, which systemd does not tell, and those that systemd has loaded, also of other names of
/// the unit.
std::vector<std::string> unit_files(const std::vector<std::string>& unit_path,
                                    const UnitStatus& unit) {
    std::vector<std::string> files;
    for (const std::string& directory : unit_path) {
        if (directory == "/etc/systemd/system") break;
        files.push_back(fmt::format("{}/{}", directory, kUnit));
    }
    // Drop-ins of service.d are for all services.
    for (const char* name : {"kubelet.service.d", "service.d"}) {
        for (const std::string& directory : unit_path) {
            std::ranges::copy(entries_of(fmt::format("{}/{}", directory, name)),
                              std::back_inserter(files));
        }
    }
    files.insert(files.end(), unit.drop_ins.begin(), unit.drop_ins.end());
    return files;
}

/// Those that change how kubelet is started, with the setting.
std::vector<std::string> foreign_settings(const std::vector<std::string>& files) {
    std::vector<std::string> found;
    std::set<std::string> seen;  // the first file of a name hides the others
    for (const std::string& file : files) {
        const std::string name = fs::path(file).filename();
        const bool counts = name == kUnit || (name.ends_with(".conf") && seen.insert(name).second);
        const auto setting = counts ? start_setting_in(text_of(file)) : std::nullopt;
        if (setting) found.push_back(fmt::format("{} sets {}=", file, *setting));
    }
    return found;
}

std::vector<std::string> foreign_kubeconfigs() {
    std::vector<std::string> found;
    for (const char* file :
         {"/etc/kubernetes/kubelet.conf", "/etc/kubernetes/bootstrap-kubelet.conf",
          "/var/lib/kubelet/kubeconfig", "/var/lib/kubelet/bootstrap-kubeconfig"}) {
        if (::access(file, F_OK) == 0 && !is_ours(file)) found.emplace_back(file);
    }
    return found;
}

std::vector<std::string> missing_tools() {
    std::vector<std::string> missing;
    for (const char* tool : {"iptables", "nft", "conntrack"}) {
        const auto is_in = [&](const char* directory) {
            return ::access(fmt::format("{}/{}", directory, tool).c_str(), X_OK) == 0;
        };
        constexpr const char* kPath[] = {"/usr/sbin", "/usr/bin",        "/sbin",
                                         "/bin",      "/usr/local/sbin", "/usr/local/bin"};
        if (std::ranges::none_of(kPath, is_in)) missing.emplace_back(tool);
    }
    return missing;
}

void read_runtime(PreflightFacts& facts, Deadline deadline) {
    const auto pods = list_pods(deadline);
    if (!pods) {
        // Right after its start containerd knows CRI, but does not serve it yet.
        const bool lacks_cri = pods.error().code == Code::not_found && ping_runtime(deadline);
        (lacks_cri ? facts.cri : facts.runtime) = pods.error();
        return;
    }
    facts.pods = pods->size();
    if (const auto text = runtime_configuration(deadline)) facts.cgroup_driver = driver_in(*text);
}

/// The files are for kernels without tcp_diag: those that are built without modules, for example.
/// The kernel needs milliseconds for each of them: it looks at all connections.
bool is_port_taken() {
    if (const auto found = has_listener(kKubeletPort)) return *found;
    return has_listener(text_of("/proc/self/net/tcp"), kKubeletPort) ||
           has_listener(text_of("/proc/self/net/tcp6"), kKubeletPort);
}

void read_system(PreflightFacts& facts) {
    facts.swaps = swaps_in(text_of("/proc/swaps"));
    utsname system{};
    if (::uname(&system) == 0) facts.kernel = system.release;
    facts.port_taken = is_port_taken();
    facts.missing_tools = missing_tools();
}

}  // namespace

Result<PreflightFacts> PreflightProbe::read(Systemd& systemd, Deadline deadline) {
    PreflightFacts facts;
    const UnitStatus unit = TRY(systemd.status(kUnit, deadline));
    facts.kubelet_active = !is_down(unit);
    facts.kubelet_enabled = unit.enablement.starts_with("enabled");
    facts.kubelet_is_ours = !unit.fragment.empty() && is_ours(unit.fragment);
    const auto unit_path = TRY(systemd.unit_path(deadline));
    facts.drop_ins = foreign_settings(unit_files(unit_path, unit));
    const auto version = version_of_kubelet(deadline);
    if (version) facts.version = *version;
    if (!version) facts.kubelet = version.error();
    facts.kubeconfigs = foreign_kubeconfigs();
    facts.manifests = entries_of("/etc/kubernetes/manifests");
    read_runtime(facts, deadline);
    read_system(facts);
    return facts;
}

Result<std::string> PreflightProbe::version_of_kubelet(Deadline deadline) {
    struct stat file{};
    if (::stat(kKubelet, &file) != 0) return from_errno("find", kKubelet);
    if (!S_ISREG(file.st_mode) || (file.st_mode & 0111U) == 0) {
        return fail(Code::invalid, fmt::format("{} is not an executable file", kKubelet));
    }
    const Program present{file.st_dev, file.st_ino, file.st_mtim.tv_sec, file.st_mtim.tv_nsec};
    if (present == program_ && !version_.empty()) return version_;
    const std::string output = TRY(output_of({kKubelet, "--version"}, kMaxVersion, deadline));
    version_ = TRY(version_in(output));
    program_ = present;
    return version_;
}

}  // namespace kubexm::executor
