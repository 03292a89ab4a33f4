#include "coordinator/search/presets/tree_policy.h"

#include "coordinator/search/presets/default_policy.h"
#include "coordinator/search/presets/paper_policy.h"

namespace ksearch {
namespace {

struct Row {
  v1::Preset preset;
  std::unique_ptr<const TreePolicy> (*make)();
};

template <typename Policy>
std::unique_ptr<const TreePolicy> Make() {
  return std::make_unique<Policy>();
}

constexpr Row kRows[] = {
    {v1::PRESET_DEFAULT, Make<DefaultPolicy>},
    {v1::PRESET_PAPER, Make<PaperPolicy>},
};

}  // namespace

std::unique_ptr<const TreePolicy> MakeTreePolicy(v1::Preset preset) {
  for (const Row& row : kRows) {
    if (row.preset == preset) return row.make();
  }
  return kRows[0].make();
}

}  // namespace ksearch
