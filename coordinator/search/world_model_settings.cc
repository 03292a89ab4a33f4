#include "coordinator/search/world_model_settings.h"

namespace ksearch {

void CompleteWorldModelSettings(v1::WorldModelSettings* settings, SettingFaults* faults) {
  if (settings->preset() == v1::PRESET_UNSPECIFIED) settings->set_preset(v1::PRESET_DEFAULT);
  // The published system uses 7. If unprofitable intents are remembered, other intents are worth
  // more than further attempts at one of them (docs/internals/benchmarks.md).
  const bool paper = settings->preset() == v1::PRESET_PAPER;
  if (!settings->has_stagnation_window()) settings->set_stagnation_window(paper ? 7 : 3);
  if (!settings->has_max_difficulty()) settings->set_max_difficulty(4);
  if (!settings->has_too_hard_limit()) settings->set_too_hard_limit(2);
  if (!settings->has_too_hard_decay()) settings->set_too_hard_decay(0.5);
  if (!settings->has_virtual_loss()) settings->set_virtual_loss(0.15);
  if (!settings->has_max_new_nodes()) settings->set_max_new_nodes(3);
  if (!settings->has_max_edit_retries()) settings->set_max_edit_retries(3);
  if (!settings->has_learn_from_confirmations()) settings->set_learn_from_confirmations(true);
  if (!settings->has_dominated_ratio()) settings->set_dominated_ratio(0.2);
  if (!settings->has_time_baseline_first()) settings->set_time_baseline_first(true);
  if (!settings->has_examine_new_bests()) settings->set_examine_new_bests(true);

  faults->Require(settings->reply_form() == v1::REPLY_FORM_UNSPECIFIED ||
                      settings->reply_form() == v1::REPLY_FORM_WHOLE,
                  "world_model.reply_form: this strategy asks for whole programs; leave it out");
  const auto range = [&](const char* field, double value, double low, double high) {
    faults->Range(absl::StrCat("world_model.", field), value, low, high);
  };
  range("stagnation_window", settings->stagnation_window(), 1, 1000);
  range("max_difficulty", settings->max_difficulty(), 1, 5);
  range("too_hard_limit", settings->too_hard_limit(), 1, 1000);
  range("too_hard_decay", settings->too_hard_decay(), 0, 1);
  range("virtual_loss", settings->virtual_loss(), 0, 1);
  range("max_new_nodes", settings->max_new_nodes(), 1, 100);
  range("max_edit_retries", settings->max_edit_retries(), 1, 20);
  range("dominated_ratio", settings->dominated_ratio(), -1, 1);
}

}  // namespace ksearch
