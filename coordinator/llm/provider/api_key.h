#ifndef KSEARCH_COORDINATOR_LLM_PROVIDER_API_KEY_H_
#define KSEARCH_COORDINATOR_LLM_PROVIDER_API_KEY_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ksearch {

// A secret. It is never printed; Redacted removes it from other text.
class ApiKey {
 public:
  ApiKey() = default;  // no key

  // Reads the key from environment variable `env`, otherwise from file `file`, and trims it; no key
  // if both are empty. NOT_FOUND names the missing variable or file; INVALID_ARGUMENT names one
  // that is empty or is not a single line of printable characters. Errors never contain a part of
  // the key.
  static absl::StatusOr<ApiKey> Read(const std::string& env, const std::string& file);

  bool empty() const { return value_.empty(); }
  // "Authorization: Bearer <key>" and "X-Api-Key: <key>". Pass them only to the transport.
  std::string AuthorizationHeader() const;
  std::string XApiKeyHeader() const;
  // The origin of the key, for messages: "environment variable OPENAI_API_KEY", "file /run/key".
  const std::string& source() const { return source_; }
  // Distinguishes keys without revealing them: a hash, for use within the process.
  std::string Fingerprint() const;
  // Replaces every part of the key of 6 or more characters in `text` with "[key]": servers repeat
  // keys, and parts of them, in their messages.
  std::string Redacted(absl::string_view text) const;
  // Replaces only the whole key, for texts that may contain a part of it by chance.
  std::string WithoutWholeKey(std::string text) const;

 private:
  ApiKey(std::string value, std::string source)
      : value_(std::move(value)), source_(std::move(source)) {}

  std::string value_;
  std::string source_ = "no key configured";
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_PROVIDER_API_KEY_H_
