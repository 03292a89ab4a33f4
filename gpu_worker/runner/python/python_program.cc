#include "gpu_worker/runner/python/python_program.h"

#include <cctype>
#include <cstring>

#include "gpu_worker/runner/execution.h"

namespace ksearch {
namespace {

// The mark of the TimedCall that is running, on the thread that makes all calls.
thread_local const Program::Mark* timed_mark = nullptr;

// DTYPE_BFLOAT16 -> "bfloat16": the names of the definition are torch's.
std::string TorchName(v1::DType dtype) {
  constexpr size_t kPrefix = sizeof "DTYPE_" - 1;
  std::string name = v1::DType_Name(dtype);
  name = name.size() > kPrefix ? name.substr(kPrefix) : "";
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

int32_t KindOf(const v1::ArgumentSlot& slot) {
  if (slot.value_case() == v1::ArgumentSlot::kBuffer) return KsearchPythonArgument::kTensor;
  if (slot.value_case() == v1::ArgumentSlot::kFloatValue) return KsearchPythonArgument::kFloat;
  return slot.view().dtype() == v1::DTYPE_BOOL ? KsearchPythonArgument::kBool
                                               : KsearchPythonArgument::kInteger;
}

}  // namespace

void PythonProgram::Load(const v1::LoadRequest& request, const std::vector<UniqueFd>& fds,
                         v1::RunnerReply* reply) {
  if (!fds.empty() || request.path().empty() || loaded_) {
    SetError(reply, v1::RunnerReply::RunnerError::LOAD_FAILED, 0,
             "LOAD needs a path and comes once");
    return;
  }
  if (Take(callbacks_.load(request.path().c_str(), request.entry_symbol().c_str())) != 0) {
    SetError(reply, v1::RunnerReply::RunnerError::LOAD_FAILED, 0, raised_);
    return;
  }
  loaded_ = true;
  reply->mutable_loaded();
}

bool PythonProgram::Setup(const ArgumentBlocks& arguments) {
  const std::vector<v1::ArgumentSlot>& slots = arguments.slots();
  std::vector<size_t> shown;  // without axes, which the shapes contain
  for (size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].role() != v1::ArgumentSlot::AXIS) shown.push_back(i);
  }
  std::vector<std::string> dtypes;
  for (const size_t i : shown) dtypes.push_back(TorchName(slots[i].view().dtype()));
  std::vector<KsearchPythonArgument> seen;
  for (size_t n = 0; n < shown.size(); ++n) {
    const v1::ArgumentSlot& slot = slots[shown[n]];
    KsearchPythonArgument argument = {};
    argument.name = slot.view().name().c_str();
    argument.dtype = dtypes[n].c_str();
    argument.shape = slot.view().shape().data();
    argument.dimensions = slot.view().shape_size();
    argument.int_value = slot.int_value();
    argument.float_value = slot.float_value();
    argument.kind = KindOf(slot);
    argument.output = slot.role() == v1::ArgumentSlot::OUTPUT ? 1 : 0;
    seen.push_back(argument);
  }
  std::vector<uint64_t> addresses;
  for (int set = 0; set < arguments.sets(); ++set) {
    for (const size_t i : shown) {
      const bool tensor = slots[i].value_case() == v1::ArgumentSlot::kBuffer;
      addresses.push_back(tensor ? arguments.block(set)[i] : 0);
    }
  }
  return Take(callbacks_.setup(seen.data(), static_cast<int32_t>(seen.size()), arguments.sets(),
                               addresses.data())) == 0;
}

int PythonProgram::Call(int set, uint64_t*, void* stream) {
  return Take(callbacks_.call(set, stream));
}

int PythonProgram::TimedCall(int set, uint64_t*, void* stream, bool repeated, const Mark& mark) {
  timed_mark = &mark;
  const int answer = Take(callbacks_.timed(set, stream, repeated ? 1 : 0));
  timed_mark = nullptr;
  return answer;
}

void PythonProgram::TakeMark(bool end) {
  if (timed_mark != nullptr) (*timed_mark)(end);
}

int PythonProgram::Take(int answer) {
  if (answer == 0) {
    raised_.clear();
  } else {
    raised_.assign(callbacks_.raised,
                   ::strnlen(callbacks_.raised, KsearchPythonCallbacks::kRaisedBytes));
    if (raised_.empty()) raised_ = "an exception without a message";
  }
  return answer;
}

}  // namespace ksearch
