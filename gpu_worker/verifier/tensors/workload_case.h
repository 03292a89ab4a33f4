#ifndef KSEARCH_GPU_WORKER_VERIFIER_TENSORS_WORKLOAD_CASE_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TENSORS_WORKLOAD_CASE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gpu_worker/verifier/tensors/input_generator.h"
#include "gpu_worker/verifier/tensors/made_inputs.h"
#include "proto/runner.pb.h"
#include "proto/task.pb.h"

namespace ksearch {

class OutputJudge;

// One tensor argument of ksearch_run under one workload.
struct TensorArgument {
  std::string name;
  v1::DType dtype = v1::DTYPE_UNSPECIFIED;
  int slot = 0;  // index into WorkloadCase::slots()
  int64_t elements = 0;
  int64_t bytes = 0;
  bool output = false;
};

// One workload of a task under one secret seed: argument slots, tensor sizes, and the generators of
// its inputs. Immutable, so thread-safe.
class WorkloadCase {
 public:
  // `made` makes the inputs and `judge` judges the outputs if the task asks for that; both must
  // outlive the case and may be null if there is no such program. `blobs` contains the recorded
  // inputs. INVALID_ARGUMENT names the workload and the error in it; errors of `made` are returned
  // unchanged; FAILED_PRECONDITION: a blob is missing.
  static absl::StatusOr<std::shared_ptr<const WorkloadCase>> Create(
      const v1::Task& task, const v1::Workload& workload, const std::string& task_sha256,
      const Seed& seed, MadeInputs* made = nullptr, OutputJudge* judge = nullptr,
      const BlobPaths& blobs = {});

  // The case with which the program that makes the workload's inputs is called: its inputs are the
  // seed of a variant, the axes and the scalars; its outputs are the workload's input tensors.
  static absl::StatusOr<std::shared_ptr<const WorkloadCase>> ForMaker(
      const v1::Task& task, const v1::Workload& workload, const std::string& task_sha256,
      const Seed& seed);

  // The case with which the program that judges outputs is called: its inputs are all arguments of
  // the case, outputs included, with the contents of `held`; its output is kVerdictBytes bytes of
  // int8 for the verdict.
  static constexpr int64_t kVerdictBytes = 2048;
  static std::shared_ptr<const WorkloadCase> ForJudge(const WorkloadCase& judged,
                                                      std::shared_ptr<MadeVariants> held);

  // A case with the same inputs and another tolerance.
  std::shared_ptr<const WorkloadCase> WithTolerance(const v1::Tolerance& tolerance) const;

  // A key that is equal for equal (task, workload).
  const std::string& key() const { return key_; }
  const std::string& uuid() const { return uuid_; }
  bool held_out() const { return held_out_; }
  const Seed& seed() const { return seed_; }
  const v1::Tolerance& tolerance() const { return tolerance_; }
  // The task's rule; empty if its suite has none.
  const v1::SuiteRule& suite_rule() const { return suite_rule_; }
  // Judges in place of the tolerance; null: the tolerance applies.
  OutputJudge* judge() const { return judge_; }
  const std::vector<v1::ArgumentSlot>& slots() const { return slots_; }
  // Inputs in definition order, then outputs.
  const std::vector<TensorArgument>& tensors() const { return tensors_; }
  int inputs() const { return static_cast<int>(generators_.size()); }
  int outputs() const { return static_cast<int>(tensors_.size()) - inputs(); }
  // The generator of input `tensor` (< inputs()).
  const InputGenerator& generator(int tensor) const {
    return *generators_[static_cast<size_t>(tensor)];
  }
  // Returns true if a GPU draws input `tensor` itself, with the same distribution but different
  // numbers from those that generator(tensor) writes for the same variant. False for a case with a
  // judge, which reads a call's inputs on the host.
  bool DrawnOnDevice(int tensor) const {
    return judge_ == nullptr && generator(tensor).random() != nullptr;
  }
  // The size of all tensors, without guard bands.
  int64_t footprint_bytes() const { return footprint_bytes_; }
  // How much of this process's memory drawing inputs may need.
  int64_t pool_bytes() const { return pool_bytes_; }

 private:
  WorkloadCase() = default;
  WorkloadCase(const WorkloadCase&) = default;

  std::string key_;
  std::string uuid_;
  bool held_out_ = false;
  Seed seed_;
  v1::Tolerance tolerance_;
  v1::SuiteRule suite_rule_;
  std::shared_ptr<OutputJudge>
      own_judge_;  // owned by this case and its copies; null: there is none
  OutputJudge* judge_ = nullptr;
  std::vector<v1::ArgumentSlot> slots_;
  std::vector<TensorArgument> tensors_;
  std::vector<std::shared_ptr<const InputGenerator>> generators_;
  int64_t footprint_bytes_ = 0;
  int64_t pool_bytes_ = 0;
};

// INVALID_ARGUMENT if the task has no workload of that name.
absl::StatusOr<const v1::Workload*> FindWorkload(const v1::Task& task, const std::string& uuid);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TENSORS_WORKLOAD_CASE_H_
