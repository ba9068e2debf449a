#include "daemon/executor/engine/lost_node.hpp"

#include "daemon/base/try.hpp"
#include "daemon/executor/render/documents.hpp"
#include "daemon/executor/steps/pre_image.hpp"
#include "daemon/model/step.hpp"

namespace kubexm::executor {

namespace {

constexpr std::size_t kMostOfUnit = std::size_t{1} << 20U;

}  // namespace

Result<bool> has_lost_node(Journal& journal, const Root& root) {
    const std::string path = model::path_of(model::Document(model::KubeletService{}));
    const auto entry = TRY(journal.ledger_entry(model::RenderedFile::kType, path));
    if (!entry) return read_file(root, path, kMostOfUnit).value_or("").contains(kNotice);
    const auto image = image_from_json(entry->pre_image);
    const auto* before = image ? std::get_if<PathPreImage>(&*image) : nullptr;
    return before != nullptr && before->ours == true;
}

}  // namespace kubexm::executor
