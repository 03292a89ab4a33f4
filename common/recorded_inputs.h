#ifndef KSEARCH_COMMON_RECORDED_INPUTS_H_
#define KSEARCH_COMMON_RECORDED_INPUTS_H_

#include <set>
#include <string>

#include "proto/task.pb.h"

namespace ksearch {

// Names of the blobs that hold recorded inputs of the task (v1::RecordedRecipe.sha256).
std::set<std::string> RecordedInputsOf(const v1::Task& task);

}  // namespace ksearch

#endif  // KSEARCH_COMMON_RECORDED_INPUTS_H_
