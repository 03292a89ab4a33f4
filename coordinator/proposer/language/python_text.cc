#include "coordinator/proposer/language/python_text.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "common/kernel_header.h"
#include "common/language.h"
#include "coordinator/proposer/language/device_generation.h"

namespace ksearch {
namespace {

// ---------------------------------------------------------------- rules

constexpr absl::string_view kRules = R"(For Python:
- Import torch{triton} and what computes in the standard library (math, functools, itertools, typing,
  dataclasses); count on nothing else. No ctypes, no compiled extension, no exec or eval.
{compiling}
- Arguments come by position. Tensors are contiguous, in row-major order, and lie over memory that is not
  torch's: do not resize_, set_ or move them, and keep neither them nor views of them after the call.
  Gradients are off.
- Every element of every output is written, or returned, in every call. An output that is passed as out=
  to an operation must have the dtype and the shape of its result.
- What runs at import is not timed and sees no inputs; it may prepare constants. Import little: the time for
  it is limited.
)";

constexpr absl::string_view kCompilingCpu =
    R"(- There is no compiler: torch.compile, torch.utils.cpp_extension and whatever else builds
  code is refused, as are files that are opened for writing, processes, sockets.)";

constexpr absl::string_view kCompilingCuda =
    R"(- Kernels are compiled before anything is measured: `run` is called once for each workload where compilers
  are at hand. What that did not compile cannot be compiled any more, so nothing that is compiled may depend
  on the contents of inputs, on which call it is, or on a clock. torch.compile is slow to start: prefer
  Triton. Files that are opened for writing, processes and sockets are refused.)";

constexpr absl::string_view kRulesCpu =
    R"(- torch's own operations are the building blocks, also one that computes the whole task. torch starts
  its threads itself; a thread of your own must be joined before the call returns.
)";

constexpr absl::string_view kRulesCuda =
    R"(- The work that counts belongs into @triton.jit kernels; torch is for scratch tensors and views, not for
  the computation itself.
- All tensors are on the one GPU, cuda:0, and a call's work goes to torch's current stream, which is where
  Triton and torch launch by themselves: make no other stream, do not synchronize, and read nothing back to
  the host (no .item(), no .cpu(), no branch on a tensor's values). Calls are recorded as CUDA graphs and
  replayed, on other tensors of the same shapes: the same shapes must lead to the same launches, and
  addresses may not be remembered. Scratch tensors are made in the call (torch.empty(..., device=x.device)).
- A kernel is compiled for each combination of constexpr values, of dtypes and of what Triton specializes
  on (arguments that are 1 or divisible by 16), all of them within the job's limit for building: pass sizes
  that vary as ordinary arguments. The choices of triton.autotune are made once, before measuring, and kept:
  keep its list short, with a `key` of the sizes that matter and no pre_hook in a Config.
)";

// ---------------------------------------------------------------- measuring

// Time of an operation on 16 elements, torch 1.13 on one core of a server processor: 1.4 to 8 us.
constexpr absl::string_view kMeasuringCpu =
    R"(Python's own time in the call counts: an operation of torch costs some 1 to 10 microseconds before it
computes anything. A result that `run` returns is copied into its place within the timed call.
)";

constexpr absl::string_view kMeasuringCuda =
    R"(A result that `run` returns is copied into its place on the device within the timed call. A call that can
be recorded as a CUDA graph is timed by replays, without Python's own time; one that cannot is timed with
the host's time for every launch.
)";

// ---------------------------------------------------------------- rules, for planners

constexpr absl::string_view kPlanningCpu =
    "scratch tensors are allocated in the call. Python with torch's operations, nothing that needs "
    "a compiler (no torch.compile, no extension). Python's own time in a call counts: some 1 to 10 "
    "microseconds an operation.";

constexpr absl::string_view kPlanningCuda =
    "scratch tensors are allocated in the call. Python with torch and Triton; the work that counts "
    "is in @triton.jit kernels on the current stream, nothing synchronizes or reads back.";

// ---------------------------------------------------------------- examples

constexpr absl::string_view kExampleCpu = R"(import torch

def run(x, scale, y):
    # A block of rows stays in the cache between the two operations; no tensor is allocated.
    for rows, out in zip(x.split(64), y.split(64)):
        torch.mul(rows, scale, out=out)
        out.clamp_(min=0)
)";

constexpr absl::string_view kExampleCuda = R"(import torch
import triton
import triton.language as tl

@triton.jit
def scale_rows(x_ptr, y_ptr, scale, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * columns
    for start in range(0, columns, BLOCK):
        column = start + tl.arange(0, BLOCK)
        inside = column < columns
        x = tl.load(x_ptr + row + column, mask=inside, other=0.0).to(tl.float32)
        tl.store(y_ptr + row + column, tl.maximum(x * scale, 0.0), mask=inside)

def run(x, scale, y):
    rows, columns = x.shape
    scale_rows[(rows,)](x, y, scale, columns, BLOCK=1024, num_warps=4)
)";

// ---------------------------------------------------------------- hints

constexpr absl::string_view kHintsCpu =
    R"(- Decide first whether memory bandwidth, arithmetic or the number of operations bounds each workload.
- Large tensors: fewer passes over memory. One operation that does the work of two (addmm, baddbmm,
  addcmul, addcdiv, lerp, softmax, layer_norm), out= and in-place forms, views instead of copies. Each
  new large temporary costs page faults besides its traffic: use the output as scratch.
- Small tensors: fewer operations, since each costs its call. No Python loop over elements or rows.
- In between: work in blocks of rows whose intermediates stay in L2, so many rows a block that the
  operations' own cost stays small beside their work.
- Leave matrix products to mm, bmm or addmm, with contiguous or plainly transposed operands; einsum and
  broadcasting may make copies first.
- Read in memory order: reduce along the last dimension; transpose one small operand rather than
  stride through a large one. float32 is fastest; half types are often converted and emulated.
)";

// Triton's own documentation: triton.language.dot (shapes, input_precision), triton.Config
// (num_warps, num_stages), triton.language.make_block_ptr.
constexpr absl::string_view kHintsTriton =
    R"(- tl.dot wants blocks of at least 16 by 16 and accumulates in float32: keep the accumulator a float32 block
  over the whole loop and convert once at the store. With float32 operands it rounds to tf32 unless
  input_precision="ieee" (slow) or "tf32x3" is given.
- Sums, maxima and exponentials in float32 whatever the inputs are; exp2 is cheaper than exp.
- Lengths of tl.arange are powers of two: mask every load and store at the edges and give `other` the
  value that changes nothing (0 for sums, -inf for maxima). Offsets in 64 bits where a tensor may have
  2^31 elements or more.
- tl.make_block_ptr with boundary_check, moved by tl.advance, spares address arithmetic in loops over tiles.
- num_warps is the threads of a program, 32 each: 4 for small tiles, 8 for tiles of 128 by 128 and above.
  num_stages is how many tiles a loop holds in flight; their bytes must fit into shared memory.
- Order programs so that neighbors share tiles in L2; give long reductions to several programs and add
  their parts up in a second kernel.
)";

// NVIDIA Hopper Tuning Guide (shared memory of a block; warpgroups are four warps).
constexpr absl::string_view kHintsHopper =
    R"(- The device is of the Hopper generation (compute capability 9.0): tl.dot becomes warpgroup instructions
  (wgmma) where num_warps is 4 or 8 and a tile has at least 64 rows; up to 227 KiB of shared memory a
  program; 8-bit floats are tl.float8e4nv and tl.float8e5.
)";

// NVIDIA Blackwell Tuning Guide (shared memory of a block); tcgen05 in the PTX ISA.
constexpr absl::string_view kHintsBlackwell =
    R"(- The device is of the Blackwell generation (compute capability 10.x): tl.dot becomes tcgen05 instructions
  with the accumulator in tensor memory, best with tiles of 128 rows; up to 227 KiB of shared memory a
  program.
)";

// Words that cannot name an argument; in the order of their characters.
constexpr absl::string_view kReserved[] = {
    "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
    "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
    "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
    "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};

bool OnGpu(v1::DeviceClass device) { return device == v1::DEVICE_CLASS_CUDA; }

std::string Parameter(const std::string& name) {
  const bool reserved = std::binary_search(std::begin(kReserved), std::end(kReserved), name);
  return reserved ? name + "_" : name;
}

template <typename Tensors>
void AddParameters(const Tensors& tensors, std::vector<std::string>* names) {
  for (const v1::TensorSpec& tensor : tensors) names->push_back(Parameter(tensor.name()));
}

std::string Call(const std::vector<std::string>& names) {
  return absl::StrCat("run(", absl::StrJoin(names, ", "), ")");
}

std::string WritingCall(const v1::Definition& definition) {
  std::vector<std::string> names;
  AddParameters(definition.inputs(), &names);
  AddParameters(definition.outputs(), &names);
  return Call(names);
}

std::string ReturningCall(const v1::Definition& definition) {
  std::vector<std::string> names;
  AddParameters(definition.inputs(), &names);
  return Call(names);
}

// "y", or "(y, z)".
std::string Outputs(const v1::Definition& definition) {
  std::vector<std::string> names;
  AddParameters(definition.outputs(), &names);
  return names.size() == 1 ? names[0] : absl::StrCat("(", absl::StrJoin(names, ", "), ")");
}

// The Python type of a scalar.
absl::string_view NumberType(v1::DType dtype) {
  const absl::string_view name = DTypeName(dtype);
  if (name == "bool") return "bool";
  return absl::StrContains(name, "int") ? "int" : "float";
}

std::string ArgumentLine(const v1::TensorSpec& tensor, absl::string_view role) {
  if (tensor.scalar()) {
    return absl::StrCat("- ", Parameter(tensor.name()), ": ", NumberType(tensor.dtype()), "\n");
  }
  return absl::StrCat("- ", Parameter(tensor.name()), ": torch.", DTypeName(tensor.dtype()), " (",
                      absl::StrJoin(tensor.shape(), ", "),
                      tensor.shape_size() == 1 ? ",), " : "), ", role, "\n");
}

}  // namespace

std::string WritingEntry(const v1::Definition& definition) {
  return absl::StrCat("def ", WritingCall(definition), ":");
}

std::string ReturningEntry(const v1::Definition& definition) {
  return absl::StrCat("def ", ReturningCall(definition), ":");
}

LanguageWords PythonText::Words(v1::DeviceClass device) const {
  const bool gpu = OnGpu(device);
  return {.scratch = "scratch tensors that the call allocates, and nothing of them in later calls",
          .libraries = gpu ? "call a library that already implements the whole operation, or " : "",
          .more_files = "modules that it imports",
          .planning = gpu ? kPlanningCuda : kPlanningCpu,
          .measuring = gpu ? kMeasuringCuda : kMeasuringCpu};
}

std::string PythonText::Rules(v1::DeviceClass device, bool /*paper*/) const {
  const bool gpu = OnGpu(device);
  return absl::StrCat(
      absl::StrReplaceAll(kRules, {{"{triton}", gpu ? ", triton" : ""},
                                   {"{compiling}", gpu ? kCompilingCuda : kCompilingCpu}}),
      gpu ? kRulesCuda : kRulesCpu);
}

std::string PythonText::Entry(const v1::Definition& definition) const {
  return absl::StrCat("`", WritingEntry(definition), "` (writes its outputs) or `",
                      ReturningEntry(definition), "` (returns them)");
}

std::string PythonText::EntryPoint(const v1::Definition& definition, v1::DeviceClass device,
                                   const std::string& /*kernel_header*/) const {
  const std::string outputs = Outputs(definition);
  std::string text = absl::StrCat(
      FactsOf(v1::LANGUAGE_PYTHON).main_path,
      " must define `run` at its top level, in one of two forms:\n\n", WritingEntry(definition),
      "\n    # writes every element of ", outputs, "; what it returns is not looked at\n",
      ReturningEntry(definition), "\n    # returns ", outputs,
      definition.outputs_size() > 1 ? " in this order" : "",
      ", of exactly the shapes and dtypes below\n\nArguments, by position:\n");
  for (const v1::TensorSpec& tensor : definition.inputs()) {
    absl::StrAppend(&text, ArgumentLine(tensor, "an input"));
  }
  for (const v1::TensorSpec& tensor : definition.outputs()) {
    absl::StrAppend(&text, ArgumentLine(tensor, "an output"));
  }
  return absl::StrCat(text, "\nA whole program, for another task (y = max(scale * x, 0)):\n\n",
                      Example(device));
}

std::string PythonText::Hints(v1::DeviceClass device, const std::string& hardware) const {
  if (!OnGpu(device)) return std::string(kHintsCpu);
  switch (GenerationOf(hardware)) {
    case DeviceGeneration::kHopper:
      return absl::StrCat(kHintsTriton, kHintsHopper);
    case DeviceGeneration::kBlackwell:
      return absl::StrCat(kHintsTriton, kHintsBlackwell);
    case DeviceGeneration::kUnknown:
      break;
  }
  return std::string(kHintsTriton);
}

absl::string_view PythonText::Example(v1::DeviceClass device) {
  return OnGpu(device) ? kExampleCuda : kExampleCpu;
}

}  // namespace ksearch
