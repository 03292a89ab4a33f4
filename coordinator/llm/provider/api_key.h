#ifndef KSEARCH_COORDINATOR_LLM_PROVIDER_API_KEY_H_
#define KSEARCH_COORDINATOR_LLM_PROVIDER_API_KEY_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ksearch {

// A secret. Nothing prints it; Redacted keeps it out of what others print.
class ApiKey {
 public:
  ApiKey() = default;  // no key

  // From environment variable `env`, else file `file`, trimmed; both empty: no key. NOT_FOUND names
  // the variable or file that is missing, INVALID_ARGUMENT one that is empty or holds anything but
  // one line of printable characters. Never holds a part of the key.
  static absl::StatusOr<ApiKey> Read(const std::string& env, const std::string& file);

  bool empty() const { return value_.empty(); }
  // "Authorization: Bearer <key>" and "X-Api-Key: <key>". Hand them to the transport only.
  std::string AuthorizationHeader() const;
  std::string XApiKeyHeader() const;
  // Where it came from, for messages: "environment variable OPENAI_API_KEY", "file /run/key".
  const std::string& source() const { return source_; }
  // Distinguishes keys without revealing them: a hash, for use within the process.
  std::string Fingerprint() const;
  // `text` with every stretch of the key of 6 or more characters replaced by "[key]": servers echo
  // keys, and parts of them, in their messages.
  std::string Redacted(absl::string_view text) const;
  // `text` with the whole key replaced, for texts in which a part of it may stand by chance.
  std::string WithoutWholeKey(std::string text) const;

 private:
  ApiKey(std::string value, std::string source)
      : value_(std::move(value)), source_(std::move(source)) {}

  std::string value_;
  std::string source_ = "no key configured";
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_PROVIDER_API_KEY_H_
