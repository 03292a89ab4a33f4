#include "coordinator/llm/provider/api_key.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/digest.h"
#include "common/log.h"
#include "common/status_macros.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

constexpr int64_t kMaxKeyBytes = 16 << 10;
constexpr size_t kRedactedStretch = 6;

bool Printable(absl::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

}  // namespace

absl::StatusOr<ApiKey> ApiKey::Read(const std::string& env, const std::string& file) {
  if (!env.empty() && !file.empty()) {
    return absl::InvalidArgumentError(
        "api_key_env and api_key_file are both set; set only one of them");
  }
  if (env.empty() && file.empty()) return ApiKey();

  std::string source;
  std::string raw;
  if (!env.empty()) {
    source = absl::StrCat("environment variable ", env);
    const char* value = std::getenv(env.c_str());
    if (value == nullptr) {
      return absl::NotFoundError(absl::StrCat(
          "api_key_env: ", source, " is not set; export it where the coordinator is started"));
    }
    raw = value;
  } else {
    source = absl::StrCat("file ", file);
    absl::StatusOr<std::string> content = ReadFile(file, kMaxKeyBytes);
    if (!content.ok()) return Annotate(content.status(), "api_key_file");
    raw = *std::move(content);
    struct stat status;
    if (stat(file.c_str(), &status) == 0 && (status.st_mode & S_IROTH) != 0) {
      LOG(WARNING) << "msg=\"key file is readable by every user; chmod 600 it\" file=" << file;
    }
  }
  std::string value(absl::StripAsciiWhitespace(raw));
  if (value.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(source, " is empty; put the API key there"));
  }
  if (!Printable(value)) {
    return absl::InvalidArgumentError(absl::StrCat(
        source,
        " holds spaces, line breaks or unprintable characters; put only the API key there"));
  }
  return ApiKey(std::move(value), std::move(source));
}

std::string ApiKey::Fingerprint() const { return Sha256Hex(value_); }

std::string ApiKey::AuthorizationHeader() const {
  return absl::StrCat("Authorization: Bearer ", value_);
}

std::string ApiKey::XApiKeyHeader() const { return absl::StrCat("X-Api-Key: ", value_); }

std::string ApiKey::WithoutWholeKey(std::string text) const {
  if (value_.empty() || text.find(value_) == std::string::npos) return text;
  return absl::StrReplaceAll(text, {{value_, "[key]"}});
}

std::string ApiKey::Redacted(absl::string_view text) const {
  const size_t stretch = std::min(kRedactedStretch, value_.size());
  if (stretch == 0) return std::string(text);
  std::string out;
  for (size_t i = 0; i < text.size();) {
    size_t length = 0;
    if (i + stretch <= text.size()) {
      const std::string head(text.substr(i, stretch));
      for (size_t at = value_.find(head); at != std::string::npos; at = value_.find(head, at + 1)) {
        size_t same = stretch;
        while (at + same < value_.size() && i + same < text.size() &&
               value_[at + same] == text[i + same]) {
          ++same;
        }
        length = std::max(length, same);
      }
    }
    if (length > 0) {
      out += "[key]";
      i += length;
    } else {
      out += text[i++];
    }
  }
  return out;
}

}  // namespace ksearch
