#include "common/kernel_header.h"

#include <cctype>
#include <limits>
#include <set>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "common/names.h"
#include "common/status_macros.h"

namespace ksearch {
namespace {

struct DTypeFacts {
  v1::DType dtype;
  absl::string_view name;
  absl::string_view c_type;
  absl::string_view cuda_type;
  int64_t bytes;
  absl::string_view cuda_include = {};
};

constexpr DTypeFacts kDTypes[] = {
    {v1::DTYPE_FLOAT32, "float32", "float", "float", 4},
    {v1::DTYPE_FLOAT16, "float16", "uint16_t", "__half", 2, "cuda_fp16.h"},
    {v1::DTYPE_BFLOAT16, "bfloat16", "uint16_t", "__nv_bfloat16", 2, "cuda_bf16.h"},
    {v1::DTYPE_FLOAT8_E4M3FN, "float8_e4m3fn", "uint8_t", "__nv_fp8_e4m3", 1, "cuda_fp8.h"},
    {v1::DTYPE_FLOAT8_E5M2, "float8_e5m2", "uint8_t", "__nv_fp8_e5m2", 1, "cuda_fp8.h"},
    {v1::DTYPE_FLOAT4_E2M1, "float4_e2m1", "uint8_t", "uint8_t", 0},
    {v1::DTYPE_INT64, "int64", "int64_t", "int64_t", 8},
    {v1::DTYPE_INT32, "int32", "int32_t", "int32_t", 4},
    {v1::DTYPE_INT16, "int16", "int16_t", "int16_t", 2},
    {v1::DTYPE_INT8, "int8", "int8_t", "int8_t", 1},
    {v1::DTYPE_BOOL, "bool", "uint8_t", "uint8_t", 1},
};

const DTypeFacts* FindDType(v1::DType dtype) {
  for (const DTypeFacts& facts : kDTypes) {
    if (facts.dtype == dtype) return &facts;
  }
  return nullptr;
}

bool IsFloating(v1::DType dtype) {
  return dtype == v1::DTYPE_FLOAT32 || dtype == v1::DTYPE_FLOAT16 || dtype == v1::DTYPE_BFLOAT16 ||
         dtype == v1::DTYPE_FLOAT8_E4M3FN || dtype == v1::DTYPE_FLOAT8_E5M2;
}

// The slot of an input or output; a scalar's value is filled in later.
absl::StatusOr<v1::ArgumentSlot> TensorSlot(const v1::Definition& definition,
                                            const v1::Workload& workload,
                                            const v1::TensorSpec& tensor,
                                            v1::ArgumentSlot::Role role) {
  v1::ArgumentSlot slot;
  if (!tensor.scalar() || role == v1::ArgumentSlot::OUTPUT) slot.set_buffer(true);
  slot.set_role(role);
  slot.mutable_view()->set_name(tensor.name());
  slot.mutable_view()->set_dtype(tensor.dtype());
  ASSIGN_OR_RETURN(const std::vector<int64_t> shape, TensorShape(definition, workload, tensor));
  slot.mutable_view()->mutable_shape()->Add(shape.begin(), shape.end());
  return slot;
}

}  // namespace

absl::StatusOr<std::string> KernelHeader(const v1::Definition& definition, v1::DeviceClass device) {
  const bool cuda = device == v1::DEVICE_CLASS_CUDA;
  absl::flat_hash_set<std::string> names = {"workspace", "workspace_bytes"};
  std::string fields;
  const auto add = [&](const std::string& name) -> absl::Status {
    if (!IsIdentifier(name)) {
      return absl::InvalidArgumentError(absl::StrCat("'", name, "' is not a C identifier"));
    }
    if (!names.insert(name).second) {
      return absl::InvalidArgumentError(absl::StrCat("name '", name, "' is used twice"));
    }
    return absl::OkStatus();
  };
  for (const v1::Axis& axis : definition.axes()) {
    RETURN_IF_ERROR(add(axis.name()));
    absl::StrAppend(
        &fields, "  int64_t ", axis.name(), ";",
        axis.has_const_value() ? absl::StrCat("  /* always ", axis.const_value(), " */") : "",
        "\n");
  }
  // Each of these headers slows every build: include only those the task needs.
  std::set<absl::string_view> includes_used;
  const auto add_tensor = [&](const v1::TensorSpec& tensor, bool output) -> absl::Status {
    RETURN_IF_ERROR(add(tensor.name()));
    if (tensor.scalar()) {
      absl::StrAppend(&fields, "  ", IsFloating(tensor.dtype()) ? "double " : "int64_t ",
                      tensor.name(), ";\n");
      return absl::OkStatus();
    }
    const DTypeFacts* facts = FindDType(tensor.dtype());
    if (facts == nullptr || facts->bytes == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("dtype ", facts == nullptr ? absl::string_view("unset") : facts->name,
                       " of '", tensor.name(), "' is not supported"));
    }
    if (cuda && !facts->cuda_include.empty()) includes_used.insert(facts->cuda_include);
    absl::StrAppend(&fields, "  ", output ? "" : "const ", cuda ? facts->cuda_type : facts->c_type,
                    "* ", tensor.name(), ";  /* ", facts->name, " [");
    for (int i = 0; i < tensor.shape_size(); ++i) {
      absl::StrAppend(&fields, i == 0 ? "" : ", ", tensor.shape(i));
    }
    absl::StrAppend(&fields, "] row-major, ", output ? "output" : "input", " */\n");
    return absl::OkStatus();
  };
  for (const v1::TensorSpec& tensor : definition.inputs())
    RETURN_IF_ERROR(add_tensor(tensor, false));
  for (const v1::TensorSpec& tensor : definition.outputs())
    RETURN_IF_ERROR(add_tensor(tensor, true));

  std::string includes;
  for (absl::string_view include : includes_used) {
    absl::StrAppend(&includes, "#include <", include, ">\n");
  }
  if (cuda) includes += "#include <cuda_runtime.h>\n";
  const absl::string_view stream = cuda ? ", cudaStream_t stream" : "";
  return absl::StrCat(
      "/* Arguments of task ", definition.name(), ". Every field is 8 bytes wide. */\n",
      "#ifndef KSEARCH_TASK_H_\n#define KSEARCH_TASK_H_\n#include <stdint.h>\n", includes, "\n",
      "typedef struct KsearchArgs {\n", fields,
      "  void* workspace;          /* ksearch_workspace_bytes() bytes",
      cuda ? " of device memory" : "", ", ", cuda ? 256 : 64,
      "-byte aligned, contents\n"
      "                               undefined at every call */\n"
      "  int64_t workspace_bytes;\n} KsearchArgs;\n\n",
      "#ifdef __cplusplus\nextern \"C\" {\n#endif\n",
      cuda ? "/* Puts all work on `stream` and returns a cudaError_t (0 = success) without "
             "waiting. When\n"
             "   the stream gets there, every element of every output is written. Tensors are "
             "device\n"
             "   memory, 256-byte aligned. */\n"
           : "/* Writes every element of every output, then returns 0. */\n",
      "int ", kEntrySymbol, "(const KsearchArgs* args", stream, ");\n",
      "/* Optional: bytes of scratch memory for these sizes; pointers in args are null. */\n",
      "int64_t ", kWorkspaceSymbol, "(const KsearchArgs* args);\n",
      "#ifdef __cplusplus\n}\n#endif\n#endif\n");
}

absl::StatusOr<std::vector<v1::ArgumentSlot>> KernelArguments(const v1::Definition& definition,
                                                              const v1::Workload& workload) {
  std::vector<v1::ArgumentSlot> slots;
  absl::flat_hash_map<std::string, int64_t> axes;
  for (const v1::AxisValue& axis : workload.axes()) axes[axis.axis()] = axis.value();
  for (const v1::Axis& axis : definition.axes()) {
    v1::ArgumentSlot slot;
    slot.set_role(v1::ArgumentSlot::AXIS);
    slot.mutable_view()->set_name(axis.name());
    if (axis.has_const_value()) {
      slot.set_int_value(axis.const_value());
    } else {
      const auto it = axes.find(axis.name());
      if (it == axes.end()) {
        return absl::InvalidArgumentError(absl::StrCat(
            "workload ", workload.uuid(), " has no value for axis '", axis.name(), "'"));
      }
      slot.set_int_value(it->second);
    }
    slots.push_back(slot);
  }
  absl::flat_hash_map<std::string, const v1::InputRecipe*> recipes;
  for (const v1::InputRecipe& recipe : workload.inputs()) recipes[recipe.input()] = &recipe;
  for (const v1::TensorSpec& tensor : definition.inputs()) {
    ASSIGN_OR_RETURN(v1::ArgumentSlot slot,
                     TensorSlot(definition, workload, tensor, v1::ArgumentSlot::INPUT));
    if (tensor.scalar()) {
      const auto it = recipes.find(tensor.name());
      if (it == recipes.end() || it->second->recipe_case() != v1::InputRecipe::kScalar) {
        return absl::InvalidArgumentError(absl::StrCat(
            "workload ", workload.uuid(), " has no value for scalar '", tensor.name(), "'"));
      }
      const v1::ScalarRecipe& scalar = it->second->scalar();
      double value = 0;
      switch (scalar.value_case()) {
        case v1::ScalarRecipe::kFloatValue:
          value = scalar.float_value();
          break;
        case v1::ScalarRecipe::kIntValue:
          value = static_cast<double>(scalar.int_value());
          break;
        case v1::ScalarRecipe::kBoolValue:
          value = scalar.bool_value() ? 1 : 0;
          break;
        case v1::ScalarRecipe::VALUE_NOT_SET:
          break;
      }
      if (IsFloating(tensor.dtype())) {
        slot.set_float_value(value);
      } else if (scalar.value_case() == v1::ScalarRecipe::kIntValue) {
        slot.set_int_value(scalar.int_value());
      } else {
        slot.set_int_value(static_cast<int64_t>(value));
      }
    }
    slots.push_back(std::move(slot));
  }
  for (const v1::TensorSpec& tensor : definition.outputs()) {
    ASSIGN_OR_RETURN(v1::ArgumentSlot slot,
                     TensorSlot(definition, workload, tensor, v1::ArgumentSlot::OUTPUT));
    slots.push_back(std::move(slot));
  }
  return slots;
}

absl::StatusOr<std::vector<int64_t>> TensorShape(const v1::Definition& definition,
                                                 const v1::Workload& workload,
                                                 const v1::TensorSpec& tensor) {
  std::vector<int64_t> shape;
  for (const std::string& name : tensor.shape()) {
    int64_t extent = -1;
    for (const v1::Axis& axis : definition.axes()) {
      if (axis.name() == name && axis.has_const_value()) extent = axis.const_value();
    }
    for (const v1::AxisValue& axis : workload.axes()) {
      if (axis.axis() == name && extent < 0) extent = axis.value();
    }
    if (extent < 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "axis '", name, "' of '", tensor.name(), "' has no value in workload ", workload.uuid()));
    }
    shape.push_back(extent);
  }
  return shape;
}

absl::StatusOr<int64_t> ElementBytes(v1::DType dtype) {
  const DTypeFacts* facts = FindDType(dtype);
  if (facts == nullptr || facts->bytes == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("dtype ", v1::DType_Name(dtype), " is not supported"));
  }
  return facts->bytes;
}

absl::string_view DTypeName(v1::DType dtype) {
  const DTypeFacts* facts = FindDType(dtype);
  return facts == nullptr ? "unspecified" : facts->name;
}

absl::StatusOr<v1::DType> DTypeFromName(absl::string_view name) {
  for (const DTypeFacts& facts : kDTypes) {
    if (facts.name == name) return facts.dtype;
  }
  return absl::InvalidArgumentError(absl::StrCat("unknown dtype '", name, "'"));
}

}  // namespace ksearch
