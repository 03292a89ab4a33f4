#ifndef KSEARCH_COORDINATOR_ENGINE_REPEATED_RUN_H_
#define KSEARCH_COORDINATOR_ENGINE_REPEATED_RUN_H_

#include <string>
#include <vector>

#include "coordinator/store/rows.h"
#include "proto/config.pb.h"

namespace ksearch {

// Makes `config` repeat `earlier`: copies everything that affects the course of a search or its
// measurements, unless `request` asks for something else.
void TakeOver(const RunRow& earlier, const v1::RunConfig& request, v1::RunConfig* config);

// Makes `config` request exactly the kinds of jobs that occur in a recorded order of arrivals,
// unless `request` says otherwise.
void TakeOverJobs(const std::vector<std::string>& recorded, const v1::RunConfig& request,
                  v1::RunConfig* config);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_ENGINE_REPEATED_RUN_H_
