#include "coordinator/suites/safetensors.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/kernel_header.h"
#include "common/status_macros.h"
#include "coordinator/suites/lfs_pointer.h"
#include "coordinator/tasks/located_json.h"

namespace ksearch {
namespace {

namespace fs = std::filesystem;
using Kind = LocatedJson::Kind;

constexpr int kMaxKeysNamed = 5;
constexpr int64_t kMaxNameBytes = 200;
constexpr size_t kMaxRank = 8;

struct DTypeWord {
  v1::DType dtype;
  absl::string_view word;
};
constexpr DTypeWord kWords[] = {
    {v1::DTYPE_FLOAT32, "F32"},
    {v1::DTYPE_FLOAT16, "F16"},
    {v1::DTYPE_BFLOAT16, "BF16"},
    {v1::DTYPE_FLOAT8_E4M3FN, "F8_E4M3"},
    {v1::DTYPE_FLOAT8_E5M2, "F8_E5M2"},
    {v1::DTYPE_INT64, "I64"},
    {v1::DTYPE_INT32, "I32"},
    {v1::DTYPE_INT16, "I16"},
    {v1::DTYPE_INT8, "I8"},
    {v1::DTYPE_BOOL, "BOOL"},
};

absl::string_view WordOf(v1::DType dtype) {
  const auto* const found = std::find_if(std::begin(kWords), std::end(kWords),
                                         [&](const auto& each) { return each.dtype == dtype; });
  return found == std::end(kWords) ? "" : found->word;
}

std::string ShapeText(const std::vector<int64_t>& shape) {
  return absl::StrCat("[", absl::StrJoin(shape, ", "), "]");
}

}  // namespace

absl::StatusOr<SafetensorsEntry> FindInSafetensorsHeader(absl::string_view header,
                                                         absl::string_view file,
                                                         absl::string_view key,
                                                         int64_t data_bytes) {
  ASSIGN_OR_RETURN(const LocatedJson json, ParseLocatedJson(header, file));
  const JsonFields top(file, json, "");
  RETURN_IF_ERROR(top.CheckObject());
  const LocatedJson* const tensor = json.Find(key);
  if (tensor == nullptr) {
    std::vector<std::string> keys;
    for (const auto& [name, value] : json.members) {
      if (name == "__metadata__") continue;
      if (keys.size() == kMaxKeysNamed) {
        keys.emplace_back("...");
        break;
      }
      keys.push_back(name);
    }
    return absl::NotFoundError(absl::StrCat(file, ": there is no tensor '", key, "', only ",
                                            keys.empty() ? "none" : absl::StrJoin(keys, ", ")));
  }
  const JsonFields fields(file, *tensor, std::string(key));
  RETURN_IF_ERROR(fields.CheckObject());
  SafetensorsEntry entry;
  ASSIGN_OR_RETURN(entry.dtype, fields.RequiredText("dtype", kMaxNameBytes));
  ASSIGN_OR_RETURN(const LocatedJson* shape, fields.Required("shape", Kind::kArray));
  if (shape->items.size() > kMaxRank) return fields.Error("shape", "has more than 8 dimensions");
  for (const LocatedJson& item : shape->items) {
    if (item.kind != Kind::kInteger || item.integer < 0) {
      return fields.Error("shape", "must hold whole numbers from 0 on");
    }
    entry.shape.push_back(item.integer);
  }
  ASSIGN_OR_RETURN(const LocatedJson* offsets, fields.Required("data_offsets", Kind::kArray));
  if (offsets->items.size() != 2 || offsets->items[0].kind != Kind::kInteger ||
      offsets->items[1].kind != Kind::kInteger) {
    return fields.Error("data_offsets", "must be two whole numbers");
  }
  entry.begin = offsets->items[0].integer;
  entry.end = offsets->items[1].integer;
  if (entry.begin < 0 || entry.end < entry.begin) {
    return fields.Error("data_offsets", "must be a beginning and an end");
  }
  if (entry.end > data_bytes) {
    return fields.Error("data_offsets",
                        absl::StrCat("end at byte ", entry.end, " of the data, and the file has ",
                                     data_bytes, " bytes of it: it is cut off"));
  }
  return entry;
}

absl::StatusOr<FileRange> FindSafetensor(const std::string& path, absl::string_view key,
                                         v1::DType dtype, const std::vector<int64_t>& shape) {
  std::error_code error;
  if (!fs::exists(path, error)) return absl::NotFoundError(absl::StrCat(path, " is not there"));
  const auto size = static_cast<int64_t>(fs::file_size(path, error));
  if (error)
    return absl::InvalidArgumentError(absl::StrCat(path, " is not a file that can be read"));
  std::ifstream in(path, std::ios::binary);
  std::string beginning(std::min<size_t>(kLfsBeginning.size(), static_cast<size_t>(size)), '\0');
  if (!in.read(beginning.data(), static_cast<std::streamsize>(beginning.size()))) {
    return absl::InvalidArgumentError(absl::StrCat(path, " cannot be read"));
  }
  RETURN_IF_ERROR(CheckIsNoLfsPointer(path, beginning));
  const auto refuse = [&](absl::string_view why) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", why));
  };
  if (size < 8) return refuse("is not a safetensors file: shorter than 8 bytes");
  uint64_t header_bytes = 0;
  for (int i = 7; i >= 0; --i) {
    header_bytes =
        header_bytes << 8 | static_cast<unsigned char>(beginning[static_cast<size_t>(i)]);
  }
  if (header_bytes > static_cast<uint64_t>(size - 8)) {
    return refuse(absl::StrCat("says that its header has ", header_bytes,
                               " bytes, and the file has only ", size,
                               ": it is cut off, or not a safetensors file"));
  }
  if (header_bytes > static_cast<uint64_t>(kMaxSafetensorsHeaderBytes)) {
    return refuse(absl::StrCat("its header of ", header_bytes, " bytes is longer than 4 MiB"));
  }
  std::string header(static_cast<size_t>(header_bytes), '\0');
  in.seekg(8);
  if (!in.read(header.data(), static_cast<std::streamsize>(header.size()))) {
    return refuse("cannot be read");
  }
  const int64_t data_begin = 8 + static_cast<int64_t>(header_bytes);
  ASSIGN_OR_RETURN(const SafetensorsEntry entry,
                   FindInSafetensorsHeader(header, path, key, size - data_begin));
  if (entry.dtype != WordOf(dtype)) {
    return refuse(absl::StrCat("tensor '", key, "' is of dtype ", entry.dtype,
                               ", the definition says ", DTypeName(dtype)));
  }
  if (entry.shape != shape) {
    return refuse(absl::StrCat("tensor '", key, "' is of shape ", ShapeText(entry.shape),
                               ", the workload says ", ShapeText(shape)));
  }
  ASSIGN_OR_RETURN(int64_t bytes, ElementBytes(dtype));
  for (const int64_t extent : shape) {
    if (__builtin_mul_overflow(bytes, extent, &bytes)) return refuse("is too large");
  }
  if (entry.end - entry.begin != bytes) {
    return refuse(absl::StrCat("tensor '", key, "' takes ", entry.end - entry.begin,
                               " bytes, its shape ", bytes));
  }
  return FileRange{path, data_begin + entry.begin, bytes};
}

absl::StatusOr<std::string> ReadSafetensor(const std::string& path, absl::string_view key,
                                           v1::DType dtype, const std::vector<int64_t>& shape,
                                           int64_t max_bytes) {
  ASSIGN_OR_RETURN(const FileRange range, FindSafetensor(path, key, dtype, shape));
  if (range.bytes > max_bytes) {
    return absl::ResourceExhaustedError(absl::StrCat(path, ": tensor '", key, "' of ", range.bytes,
                                                     " bytes is larger than the ", max_bytes,
                                                     " that are left for recorded tensors"));
  }
  std::string values(static_cast<size_t>(range.bytes), '\0');
  std::ifstream in(path, std::ios::binary);
  in.seekg(range.begin);
  if (!in.read(values.data(), static_cast<std::streamsize>(values.size()))) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": cannot be read"));
  }
  return values;
}

}  // namespace ksearch
