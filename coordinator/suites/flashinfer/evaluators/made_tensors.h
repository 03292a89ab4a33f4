#ifndef KSEARCH_COORDINATOR_SUITES_FLASHINFER_EVALUATORS_MADE_TENSORS_H_
#define KSEARCH_COORDINATOR_SUITES_FLASHINFER_EVALUATORS_MADE_TENSORS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "proto/task.pb.h"

namespace ksearch {

// Wherever a workload draws the input tensor `name` at random, `maker` makes it instead: the text
// of a Python function _ksearch_made(torch, tensor, shape, generator, device), whose `tensor` has
// the members name and dtype. The text is appended to the reference as make_inputs, and gives the
// same result for the same seed. Does nothing if no workload draws the tensor.
void MakeTensor(const std::string& name, absl::string_view maker, v1::Task* task,
                std::string* reference);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_FLASHINFER_EVALUATORS_MADE_TENSORS_H_
