#include "gpu_worker/verifier/timing/input_maker.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "common/status_macros.h"
#include "common/task_fault.h"
#include "gpu_worker/verifier/host/host_outputs.h"

namespace ksearch {
namespace {

constexpr absl::string_view kEntry = "make_inputs";

std::string KeyOf(const WorkloadCase& maker, int64_t variant) {
  return absl::StrCat(maker.key(), "/", maker.seed().high, ".", maker.seed().low, "/", variant);
}

std::shared_ptr<const MadeVariant> Zeros(const WorkloadCase& maker) {
  std::vector<std::vector<std::byte>> zeros;
  for (const TensorArgument& tensor : maker.tensors()) {
    if (tensor.output) zeros.emplace_back(static_cast<size_t>(tensor.bytes));
  }
  return std::make_shared<const HostOutputs>(std::move(zeros));
}

}  // namespace

class InputMaker::Variants final : public MadeVariants {
 public:
  Variants(InputMaker& owner, std::shared_ptr<const WorkloadCase> maker, bool repeats)
      : owner_(owner), maker_(std::move(maker)), repeats_(repeats) {}
  std::shared_ptr<const MadeVariant> Get(int64_t variant) override {
    return owner_.Get(maker_, variant);
  }
  bool repeats() const override { return repeats_; }

 private:
  InputMaker& owner_;
  const std::shared_ptr<const WorkloadCase> maker_;
  const bool repeats_;
};

InputMaker::InputMaker(RunnerStarter& starter, const Clock& clock, BufferSetsFactory on_device)
    : clock_(clock), function_(starter, clock, kEntry, std::move(on_device)) {}

void InputMaker::Use(const v1::Artifact& reference) {
  MutexLock lock(&mutex_);
  fault_ = absl::OkStatus();
  last_ = nullptr;
  function_.Use(reference);
}

absl::Status InputMaker::fault() const {
  MutexLock lock(&mutex_);
  return fault_;
}

absl::StatusOr<std::shared_ptr<MadeVariants>> InputMaker::Open(
    std::shared_ptr<const WorkloadCase> maker) {
  MutexLock lock(&mutex_);
  const absl::Time start = clock_.SteadyNow();
  ASSIGN_OR_RETURN(const auto first, Make(maker, 0));
  // There is no room for many large variants.
  ASSIGN_OR_RETURN(auto again, Make(maker, 0));
  if (!first->Equals(*again)) {
    return TaskFault(absl::StrCat(kEntry, " fails on workload ", maker->uuid(),
                                  ": it returns other tensors for the same seed; draw all random "
                                  "numbers from generators that are made from `seed`"));
  }
  again.reset();
  ASSIGN_OR_RETURN(const auto other, Make(maker, 1));
  const bool repeats = maker->footprint_bytes() > 0 && first->Equals(*other);
  LOG(DEBUG) << "msg=\"inputs are made\" workload=" << maker->uuid()
             << " bytes=" << maker->footprint_bytes()
             << " on_device=" << (maker->outputs() > 0 && first->on_device(0) != 0)
             << " time_of_three=" << clock_.SteadyNow() - start;
  made_.Insert(KeyOf(*maker, 0), first, first->bytes());
  made_.Insert(KeyOf(*maker, 1), other, other->bytes());
  return std::make_shared<Variants>(*this, std::move(maker), repeats);
}

std::shared_ptr<const MadeVariant> InputMaker::Get(const std::shared_ptr<const WorkloadCase>& maker,
                                                   int64_t variant) {
  MutexLock lock(&mutex_);
  const std::string key = KeyOf(*maker, variant);
  if (auto found = made_.Find(key)) return found;
  if (fault_.ok() && last_ != nullptr && last_key_ == key) return last_;
  absl::StatusOr<std::shared_ptr<const MadeVariant>> made =
      fault_.ok() ? Make(maker, variant) : fault_;
  if (!made.ok()) {
    if (fault_.ok()) {
      LOG(WARNING) << "msg=\"inputs cannot be made\" error=\"" << made.status().message() << "\"";
      fault_ = made.status();
    }
    return Zeros(*maker);
  }
  made_.Insert(key, *made, (*made)->bytes());
  return *std::move(made);
}

absl::StatusOr<std::shared_ptr<const MadeVariant>> InputMaker::Make(
    const std::shared_ptr<const WorkloadCase>& maker, int64_t variant) {
  last_ = nullptr;
  absl::StatusOr<std::shared_ptr<const MadeVariant>> made = function_.Call(maker, variant);
  if (absl::IsResourceExhausted(made.status())) {
    made_.Clear();
    made = function_.Call(maker, variant);
  }
  RETURN_IF_ERROR(made.status());
  last_key_ = KeyOf(*maker, variant);
  last_ = *std::move(made);
  return last_;
}

}  // namespace ksearch
