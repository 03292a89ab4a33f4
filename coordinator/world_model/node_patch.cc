#include "coordinator/world_model/node_patch.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "coordinator/world_model/text.h"

namespace ksearch {
namespace {

double Clamped(double value, double low, double high) {
  return std::isfinite(value) ? std::clamp(value, low, high) : low;
}

void MergeImpact(const v1::Impact& patch, v1::Impact* impact) {
  // The message cannot distinguish 0 from absent; a merge keeps absent fields.
  if (patch.rating() != 0) impact->set_rating(Clamped(patch.rating(), 0, 10));
  if (!patch.risk().empty()) impact->set_risk(CutText(patch.risk(), kMaxShortNodeText));
  if (!patch.notes().empty()) impact->set_notes(CutText(patch.notes(), kMaxLongNodeText));
  if (!patch.hardware_notes().empty()) {
    impact->set_hardware_notes(CutText(patch.hardware_notes(), kMaxLongNodeText));
  }
}

bool TouchesAction(const v1::NodePatch& patch) {
  return patch.has_title() || patch.has_description() || patch.has_rationale() ||
         patch.has_difficulty() || patch.has_score() || patch.has_expected_vs_baseline();
}

}  // namespace

std::vector<std::string> RangeFaults(const v1::NodePatch& patch) {
  std::vector<std::string> faults;
  const auto check = [&](bool present, double value, double low, double high,
                         absl::string_view field) {
    if (!present || (value >= low && value <= high)) return;
    faults.push_back(absl::StrCat(field, " ", value, " is outside [", low, ", ", high, "]"));
  };
  check(patch.has_overall_rating(), patch.overall_rating(), 0, 10, "overall_rating");
  check(patch.has_confidence(), patch.confidence(), 0, 1, "confidence");
  check(patch.has_score(), patch.score(), 0, 1, "action.score");
  check(patch.has_difficulty(), patch.difficulty(), 1, 5, "action.difficulty");
  check(patch.has_expected_vs_baseline(), patch.expected_vs_baseline(), 0, 1e6,
        "action.expected_vs_baseline");
  check(patch.has_memory_bandwidth(), patch.memory_bandwidth().rating(), 0, 10,
        "memory_bandwidth.rating");
  check(patch.has_register_pressure(), patch.register_pressure().rating(), 0, 10,
        "register_pressure.rating");
  check(patch.has_compute_intensity(), patch.compute_intensity().rating(), 0, 10,
        "compute_intensity.rating");
  return faults;
}

void ApplyPatch(const v1::NodePatch& patch, bool is_root, v1::Node* node) {
  if (patch.has_decision() && !is_root) {
    node->set_decision(CutText(patch.decision(), kMaxShortNodeText));
  }
  if (patch.has_choice() && !is_root) node->set_choice(CutText(patch.choice(), kMaxShortNodeText));
  if (patch.has_overall_rating()) node->set_overall_rating(Clamped(patch.overall_rating(), 0, 10));
  if (patch.has_confidence()) node->set_confidence(Clamped(patch.confidence(), 0, 1));
  if (patch.has_notes()) node->set_notes(CutText(patch.notes(), kMaxLongNodeText));
  v1::Impacts* impacts = node->mutable_impacts();
  if (patch.has_memory_bandwidth()) {
    MergeImpact(patch.memory_bandwidth(), impacts->mutable_memory_bandwidth());
  }
  if (patch.has_register_pressure()) {
    MergeImpact(patch.register_pressure(), impacts->mutable_register_pressure());
  }
  if (patch.has_compute_intensity()) {
    MergeImpact(patch.compute_intensity(), impacts->mutable_compute_intensity());
  }
  if (!TouchesAction(patch)) return;
  const bool first = !node->has_action();
  v1::Action* action = node->mutable_action();
  if (first) {
    action->set_difficulty(kDefaultDifficulty);
    action->set_score(node->overall_rating() / 10);
  }
  if (patch.has_title()) action->set_title(OneLine(patch.title(), kMaxShortNodeText));
  if (patch.has_description())
    action->set_description(CutText(patch.description(), kMaxLongNodeText));
  if (patch.has_rationale()) action->set_rationale(CutText(patch.rationale(), kMaxLongNodeText));
  if (patch.has_difficulty()) action->set_difficulty(std::clamp(patch.difficulty(), 1, 5));
  if (patch.has_score()) action->set_score(Clamped(patch.score(), 0, 1));
  if (patch.has_expected_vs_baseline() && std::isfinite(patch.expected_vs_baseline())) {
    action->set_expected_vs_baseline(patch.expected_vs_baseline());
  }
}

}  // namespace ksearch
