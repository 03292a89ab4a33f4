#include "gpu_worker/verifier/dialogue/runner_reply.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace ksearch {
namespace {

Ending Cheat(absl::string_view what) {
  return {v1::OUTCOME_CHEAT,
          absl::StrCat("forged dialogue: ", what, "; only the runner may use its control socket")};
}

// Values of CUresult, whose header this library does not include: errors of the device or its
// driver that no program can cause.
constexpr int kDeviceErrors[] = {
    46,   // DEVICE_UNAVAILABLE
    100,  // NO_DEVICE
    214,  // ECC_UNCORRECTABLE
    220,  // NVLINK_UNCORRECTABLE
    721,  // CONTAINED
    802,  // SYSTEM_NOT_READY
    803,  // SYSTEM_DRIVER_MISMATCH
};
constexpr int kCudaOutOfMemory = 2;
// Errors that a kernel's own code causes. Refused launches (too many registers) and kernels that
// take too long are not among them.
constexpr int kFaultsOfKernels[] = {
    700,  // ILLEGAL_ADDRESS
    714,  // HARDWARE_STACK_ERROR
    715,  // ILLEGAL_INSTRUCTION
    716,  // MISALIGNED_ADDRESS
    717,  // INVALID_ADDRESS_SPACE
    718,  // INVALID_PC
    719,  // LAUNCH_FAILED
};

// The largest value of CUresult.
constexpr int kMostShownValue = 999;

// A number that the program chose.
std::string ShownValue(int value) {
  return value >= -kMostShownValue && value <= kMostShownValue
             ? absl::StrCat(value)
             : absl::StrCat("a number beyond ", kMostShownValue);
}

// Values and names of CUresult; cudaError_t shares most values. Names do not come from the runner's
// text, which the program may have written.
struct CudaError {
  int number;
  absl::string_view name;
};
constexpr CudaError kCudaErrors[] = {
    {1, "CUDA_ERROR_INVALID_VALUE"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY"},
    {3, "CUDA_ERROR_NOT_INITIALIZED"},
    {46, "CUDA_ERROR_DEVICE_UNAVAILABLE"},
    {98, "cudaErrorInvalidDeviceFunction"},
    {100, "CUDA_ERROR_NO_DEVICE"},
    {200, "CUDA_ERROR_INVALID_IMAGE"},
    {201, "CUDA_ERROR_INVALID_CONTEXT"},
    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
    {214, "CUDA_ERROR_ECC_UNCORRECTABLE"},
    {218, "CUDA_ERROR_INVALID_PTX"},
    {220, "CUDA_ERROR_NVLINK_UNCORRECTABLE"},
    {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
    {400, "CUDA_ERROR_INVALID_HANDLE"},
    {500, "CUDA_ERROR_NOT_FOUND"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
    {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
    {702, "CUDA_ERROR_LAUNCH_TIMEOUT"},
    {710, "CUDA_ERROR_ASSERT"},
    {714, "CUDA_ERROR_HARDWARE_STACK_ERROR"},
    {715, "CUDA_ERROR_ILLEGAL_INSTRUCTION"},
    {716, "CUDA_ERROR_MISALIGNED_ADDRESS"},
    {717, "CUDA_ERROR_INVALID_ADDRESS_SPACE"},
    {718, "CUDA_ERROR_INVALID_PC"},
    {719, "CUDA_ERROR_LAUNCH_FAILED"},
    {720, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE"},
    {721, "CUDA_ERROR_CONTAINED"},
    {800, "CUDA_ERROR_NOT_PERMITTED"},
    {801, "CUDA_ERROR_NOT_SUPPORTED"},
    {802, "CUDA_ERROR_SYSTEM_NOT_READY"},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"},
    {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"},
    {901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"},
    {902, "CUDA_ERROR_STREAM_CAPTURE_MERGE"},
    {903, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED"},
    {904, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED"},
    {905, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION"},
    {906, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT"},
    {908, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD"},
    {912, "CUDA_ERROR_INVALID_CLUSTER_SIZE"},
    {999, "CUDA_ERROR_UNKNOWN"},
};

// Returns "" for an error that is not CUDA's, or whose number has no name here.
std::string CudaErrorName(const v1::RunnerReply::RunnerError& error) {
  if (!absl::StrContains(error.text(), "CUDA_ERROR_")) return "";
  const auto* const known =
      std::find_if(std::begin(kCudaErrors), std::end(kCudaErrors),
                   [&](const CudaError& one) { return one.number == error.value(); });
  return known == std::end(kCudaErrors) ? "" : std::string(known->name);
}

// Exceptions of Python and torch that honest programs may raise.
constexpr absl::string_view kExceptions[] = {
    "ArithmeticError",    "AssertionError",      "AttributeError",
    "BufferError",        "CompilationError",    "FileNotFoundError",
    "FloatingPointError", "ImportError",         "IndexError",
    "KeyError",           "KeyboardInterrupt",   "LookupError",
    "MemoryError",        "ModuleNotFoundError", "NameError",
    "NotCompiledError",   "NotImplementedError", "OSError",
    "OutOfMemoryError",   "OutOfResources",      "OverflowError",
    "PermissionError",    "RecursionError",      "RuntimeError",
    "StopIteration",      "SyntaxError",         "SystemExit",
    "TypeError",          "UnboundLocalError",   "UnicodeDecodeError",
    "ValueError",         "ZeroDivisionError",
};
// Raised by what ksearch adds to a program: a suite's module_entry.py, the runner's
// returning_call.py, GPU MODE's nested_values.py.
struct AddedException {
  absl::string_view name;
  absl::string_view message;
};
constexpr AddedException kAddedExceptions[] = {
    {"OtherParametersError",
     "the module's parameters or buffers are not those of the task's module, neither by name and "
     "shape nor by order and shape"},
    {"ReturnedCountError",
     "the program returned another number of values than the task has outputs"},
    {"ReturnedTypeError", "the program returned a value of another kind than the task's output"},
    {"ReturnedShapeError",
     "the program returned a tensor of another shape (or on another device) than the task's "
     "output"},
    {"ReturnedDtypeError", "the program returned a tensor of another dtype than the task's output"},
};
constexpr int kMostShownLine = 9'999;
// A TypeError that no line of the program raised: it comes from how the program is called, or from
// the check of what it returns.
constexpr absl::string_view kNotItsOwn =
    ", but no line of it: it takes other arguments than the task has, or returns something other "
    "than tensors of the outputs' shapes and dtypes";

// Returns the kind of exception and the innermost line of a traceback. Its text may contain inputs.
std::string RaisedText(absl::string_view text) {
  absl::string_view last = text.substr(text.rfind('\n') + 1);  // npos + 1 is 0
  last = last.substr(0, last.find(':'));
  last = last.substr(last.rfind('.') + 1);
  for (const AddedException& added : kAddedExceptions) {
    if (last == added.name) return std::string(added.message);
  }
  const auto* const known = std::find(std::begin(kExceptions), std::end(kExceptions), last);
  std::string shown =
      absl::StrCat("the program raised ", known == std::end(kExceptions) ? "an exception" : *known);
  constexpr absl::string_view kLine = ", line ";
  const size_t at = text.rfind(kLine);
  if (at != absl::string_view::npos) {
    absl::string_view number = text.substr(at + kLine.size());
    number = number.substr(0, number.find_first_not_of("0123456789"));
    int line = 0;
    if (absl::SimpleAtoi(number, &line) && line > 0 && line <= kMostShownLine) {
      absl::StrAppend(&shown, " at line ", line);
    }
  } else if (last == "TypeError") {
    absl::StrAppend(&shown, kNotItsOwn);
  }
  return shown;
}

Ending FromCudaError(int value, const std::string& name) {
  Ending ending;
  ending.outcome =
      value == kCudaOutOfMemory ? v1::OUTCOME_RESOURCE_LIMIT : v1::OUTCOME_RUNTIME_ERROR;
  ending.message = name.empty() ? absl::StrCat("CUDA error ", ShownValue(value)) : name;
  ending.device_failed = std::find(std::begin(kDeviceErrors), std::end(kDeviceErrors), value) !=
                         std::end(kDeviceErrors);
  ending.crashed = std::find(std::begin(kFaultsOfKernels), std::end(kFaultsOfKernels), value) !=
                   std::end(kFaultsOfKernels);
  return ending;
}

Ending FromError(const v1::RunnerReply::RunnerError& error, v1::RunnerReply::BodyCase expected) {
  using Error = v1::RunnerReply::RunnerError;
  const bool loading = expected == v1::RunnerReply::kLoaded;
  const bool mapping = expected == v1::RunnerReply::kMapped;
  const std::string name = CudaErrorName(error);
  switch (error.code()) {
    case Error::LOAD_FAILED:
      // No inputs had been mapped yet, so the text contains none.
      if (!loading) return Cheat("a failure to load, out of turn");
      return {v1::OUTCOME_LOAD_ERROR, CleanText(error.text(), kMaxErrorTextBytes)};
    case Error::CALL_RETURNED_NONZERO:
      if (loading || mapping) return Cheat("a failing call, out of turn");
      return {v1::OUTCOME_RUNTIME_ERROR,
              absl::StrCat("ksearch_run returned ", ShownValue(error.value()), " (0 means success)",
                           name.empty() ? "" : "; among CUDA errors that is ", name)};
    case Error::RAISED:
      if (loading) return Cheat("a failing call, out of turn");
      return {.outcome = v1::OUTCOME_RUNTIME_ERROR,
              .message = RaisedText(error.text()),
              .words = CleanText(error.text(), kMaxErrorTextBytes)};
    case Error::CUDA_ERROR:
      return FromCudaError(error.value(), name);
    case Error::OUT_OF_MEMORY:
      return {v1::OUTCOME_RESOURCE_LIMIT, absl::StrCat("no memory for the buffers or the workspace",
                                                       name.empty() ? "" : ": ", name)};
    case Error::MAP_FAILED:
      return {
          v1::OUTCOME_RESOURCE_LIMIT,
          absl::StrCat("mapping the buffers failed: ",
                       name.empty() ? absl::StrCat("error ", ShownValue(error.value())) : name)};
    default:
      return Cheat("an error code out of turn");
  }
}

}  // namespace

Ending JudgeReply(absl::string_view packet, const ExpectedReply& expected, v1::RunnerReply* reply) {
  if (static_cast<int64_t>(packet.size()) > kMaxReplyBytes) return Cheat("an oversized packet");
  if (!reply->ParseFromArray(packet.data(), static_cast<int>(packet.size()))) {
    return Cheat("a packet that is not a message");
  }
  if (reply->nonce() != expected.nonce) return Cheat("a wrong nonce");
  if (reply->step() != expected.step) return Cheat("a wrong step number");
  if (reply->body_case() == v1::RunnerReply::kError)
    return FromError(reply->error(), expected.body);
  if (reply->body_case() != expected.body) return Cheat("an unexpected message");
  if (expected.body == v1::RunnerReply::kDone &&
      (reply->done().inner_ns_size() != expected.timings ||
       reply->done().host_ns_size() != expected.host_times)) {
    return Cheat("a wrong number of timings");
  }
  return {};
}

std::string CleanText(absl::string_view text, int64_t max_bytes) {
  constexpr absl::string_view kMark = " [...]";
  std::string clean;
  for (const char c : text) {
    if (static_cast<int64_t>(clean.size() + kMark.size()) >= max_bytes) {
      absl::StrAppend(&clean, kMark);
      break;
    }
    const auto byte = static_cast<unsigned char>(c);
    // Protobuf strings must be UTF-8; a candidate's output need not be.
    clean.push_back(byte == '\n' || (byte >= 0x20 && byte < 0x7F) ? c : (byte < 0x20 ? ' ' : '?'));
  }
  return clean;
}

}  // namespace ksearch
