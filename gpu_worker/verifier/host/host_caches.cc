#include "gpu_worker/verifier/host/host_caches.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

// The kernel numbers processors without large gaps, and lists a handful of caches of each.
constexpr int kMaxProcessors = 4096;
constexpr int kMaxCaches = 8;

std::string ReadWord(const std::string& path) {
  const std::string text = ReadFile(path, 4096).value_or("");
  return std::string(absl::StripAsciiWhitespace(text));
}

// "32768K" -> bytes; 0 if the text has another form.
int64_t SizeIn(absl::string_view text) {
  int64_t unit = 1;
  if (absl::ConsumeSuffix(&text, "K")) unit = int64_t{1} << 10;
  if (absl::ConsumeSuffix(&text, "M")) unit = int64_t{1} << 20;
  int64_t number = 0;
  return absl::SimpleAtoi(text, &number) && number > 0 && number < (int64_t{1} << 40)
             ? number * unit
             : 0;
}

}  // namespace

int64_t AllLastLevelCacheBytes(const std::string& root, int64_t library_bytes) {
  int best_level = 0;
  std::map<std::string, int64_t> caches;  // sizes, keyed by the processors that share the cache
  int missing = 0;
  for (int processor = 0; processor < kMaxProcessors && missing < 64; ++processor) {
    const std::string folder =
        absl::StrCat(root, "/sys/devices/system/cpu/cpu", processor, "/cache/index");
    bool found = false;
    for (int index = 0; index < kMaxCaches; ++index) {
      int level = 0;
      if (!absl::SimpleAtoi(ReadWord(absl::StrCat(folder, index, "/level")), &level)) break;
      found = true;
      if (level < best_level) continue;
      if (level > best_level) caches.clear();
      best_level = level;
      const std::string shared = ReadWord(absl::StrCat(folder, index, "/shared_cpu_list"));
      caches[shared.empty() ? absl::StrCat(processor) : shared] =
          SizeIn(ReadWord(absl::StrCat(folder, index, "/size")));
    }
    missing = found ? 0 : missing + 1;
  }
  int64_t bytes = 0;
  for (const auto& [processors, size] : caches) bytes += size;
  return std::max(bytes, library_bytes);
}

}  // namespace ksearch
