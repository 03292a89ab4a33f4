#ifndef KSEARCH_COORDINATOR_SEARCH_WORLD_MODEL_SETTINGS_H_
#define KSEARCH_COORDINATOR_SEARCH_WORLD_MODEL_SETTINGS_H_

#include "coordinator/search/setting_faults.h"
#include "proto/config.pb.h"

namespace ksearch {

// Fills in the defaults that proto/config.proto documents, and checks the given values.
void CompleteWorldModelSettings(v1::WorldModelSettings* settings, SettingFaults* faults);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_WORLD_MODEL_SETTINGS_H_
