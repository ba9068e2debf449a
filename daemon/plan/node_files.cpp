#include "daemon/plan/node_files.hpp"

#include <fmt/format.h>

namespace kubexm::plan {

namespace {

constexpr std::size_t kNameDigits = 16;  // of the digest, in the name of a file

}  // namespace

void add_pair(std::vector<model::Step>& steps, const std::string& series,
              const std::string& digest) {
    const std::string name = fmt::format("{}-{}", series, digest.substr(0, kNameDigits));
    const std::string file = fmt::format("{}/{}.pem", kPki, name);
    steps.emplace_back(model::SecretFile{file, name, digest, {model::Mode{0600}}, series});
    steps.emplace_back(model::Symlink{fmt::format("{}/{}-current.pem", kPki, series), file});
}

}  // namespace kubexm::plan
