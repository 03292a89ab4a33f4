#include "coordinator/llm/provider/json_fields.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace ksearch {
namespace {

constexpr size_t kMaxErrorMessageBytes = 600;
constexpr size_t kMaxErrorNameBytes = 100;

// Cuts at a UTF-8 boundary.
std::string Shortened(std::string text, size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  size_t end = max_bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  text.resize(end);
  return absl::StrCat(text, "...");
}

}  // namespace

Json ParseJson(absl::string_view body) {
  return Json::parse(body.begin(), body.end(), nullptr, /*allow_exceptions=*/false);
}

std::string DumpJson(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

const Json& Member(const Json& object, const char* name) {
  static const Json& null = *new Json();
  if (!object.is_object()) return null;
  const auto found = object.find(name);
  return found == object.end() ? null : *found;
}

std::string Text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_integer()) return absl::StrCat(value.get<int64_t>());
  return "";
}

int64_t Count(const Json& value) {
  if (value.is_number_unsigned()) {
    return static_cast<int64_t>(std::min<uint64_t>(value.get<uint64_t>(), int64_t{1} << 40));
  }
  return 0;
}

int64_t TakePart(int64_t part, int64_t* whole, TokenUsage* usage) {
  if (part > *whole) usage->inconsistent = true;
  *whole = std::max<int64_t>(*whole - part, 0);
  return part;
}

void AddExtraBody(absl::string_view extra, Json* body) {
  if (extra.empty()) return;
  const Json members = ParseJson(extra);
  if (members.is_object()) body->update(members);
}

ProviderError WithinLimits(ProviderError error) {
  error.message = Shortened(std::move(error.message), kMaxErrorMessageBytes);
  error.code = Shortened(std::move(error.code), kMaxErrorNameBytes);
  error.type = Shortened(std::move(error.type), kMaxErrorNameBytes);
  error.parameter = Shortened(std::move(error.parameter), kMaxErrorNameBytes);
  return error;
}

}  // namespace ksearch
