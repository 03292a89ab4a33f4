#include "coordinator/llm/failure/provider_error.h"

#include <algorithm>
#include <initializer_list>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "coordinator/llm/failure/retry_after.h"
#include "coordinator/llm/flow/rate_limit.h"
#include "coordinator/llm/provider/refused_fields.h"

namespace ksearch {
namespace {

bool OneOf(absl::string_view text, std::initializer_list<absl::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

// Returns true if the code means that money or a quota has run out, rather than that calls come too
// fast.
bool OutOfMoney(const ProviderError& error) {
  for (absl::string_view name : {absl::string_view(error.code), absl::string_view(error.type)}) {
    if (OneOf(name, {"insufficient_quota", "credit_balance_exhausted", "billing_error",
                     "billing_hard_limit_reached", "billing_not_active"}) ||
        absl::StrContains(name, "spend_limit") || absl::StrContains(name, "usage_limit")) {
      return true;
    }
  }
  return error.daily_quota;
}

// The errors of OpenAI, vLLM, llama.cpp and Gemini when the prompt does not fit.
bool ContextOverflow(const ProviderError& error) {
  if (error.code == "context_length_exceeded") return true;
  if (error.code == "string_above_max_length") return false;
  const std::string message = absl::AsciiStrToLower(error.message);
  for (absl::string_view marker :
       {"maximum context length is", "exceed context limit", "exceeds the available context size",
        "exceeds the maximum number of tokens allowed"}) {
    if (absl::StrContains(message, marker)) return true;
  }
  return false;
}

absl::StatusCode Classify(int http_status, const ProviderError& error) {
  if (http_status == 402) return absl::StatusCode::kResourceExhausted;
  if (OneOf(absl::StrCat(http_status), {"400", "403", "429"}) && OutOfMoney(error)) {
    return absl::StatusCode::kResourceExhausted;
  }
  if (http_status >= 500) return absl::StatusCode::kUnavailable;
  if (http_status >= 300 && http_status < 400) return absl::StatusCode::kNotFound;
  switch (http_status) {
    case 401:
      return absl::StatusCode::kUnauthenticated;
    case 403:
      return absl::StatusCode::kPermissionDenied;
    case 404:
    case 405:
      return absl::StatusCode::kNotFound;
    case 408:
    case 409:
    case 425:
    case 429:
      return absl::StatusCode::kUnavailable;
    default:
      return ContextOverflow(error) ? absl::StatusCode::kOutOfRange
                                    : absl::StatusCode::kInvalidArgument;
  }
}

// The HTTP status that an error object inside a 200 stands for.
int ImpliedHttpStatus(const ProviderError& error) {
  int code = 0;
  if (absl::SimpleAtoi(error.code, &code) && code >= 400 && code < 600) return code;
  if (OneOf(error.type, {"invalid_request_error", "request_too_large"}) || ContextOverflow(error))
    return 400;
  if (error.type == "authentication_error") return 401;
  if (error.type == "permission_error") return 403;
  if (error.type == "not_found_error") return 404;
  if (OutOfMoney(error) || OneOf(error.code, {"rate_limit_exceeded", "slow_down"}) ||
      error.type == "rate_limit_error") {
    return 429;
  }
  if (OneOf(error.code, {"invalid_prompt", "invalid_request"})) return 400;
  return 500;
}

std::string Fix(absl::StatusCode code, int http_status, const ApiKey& key,
                absl::string_view model) {
  switch (code) {
    case absl::StatusCode::kUnauthenticated:
      return key.empty()
                 ? "; the server wants an API key: set api_key_env or api_key_file, or with "
                   "ksearch --local KSEARCH_MODEL_KEY"
                 : absl::StrCat("; check the API key in ", key.source());
    case absl::StatusCode::kPermissionDenied:
      return absl::StrCat("; the API key (", key.source(), ") may not use model \"", model, "\"");
    case absl::StatusCode::kNotFound:
      if (http_status < 400) return "; redirects are not followed: set base_url to the new address";
      return absl::StrCat("; check model \"", model, "\" and base_url");
    case absl::StatusCode::kResourceExhausted:
      return "; add credit or raise the provider's limit, then resume the run";
    case absl::StatusCode::kOutOfRange:
      return absl::StrCat("; the prompt does not fit into model \"", model, "\"");
    default:
      return "";
  }
}

std::string PrintableStart(absl::string_view body) {
  std::string start(body.substr(0, 120));
  for (char& c : start) {
    if (c < ' ' || c > '~') c = ' ';
  }
  return start;
}

}  // namespace

std::optional<absl::Duration> ServerDelay(const HttpResponse& response, absl::Time now) {
  double number = 0;
  if (const auto ms = response.headers.find("retry-after-ms");
      ms != response.headers.end() && absl::SimpleAtod(ms->second, &number) && number >= 0) {
    return absl::Milliseconds(number);
  }
  const auto header = response.headers.find("retry-after");
  if (header == response.headers.end()) return std::nullopt;
  if (absl::SimpleAtod(header->second, &number) && number >= 0) return absl::Seconds(number);
  absl::Time date;
  if (absl::ParseTime("%a, %d %b %Y %H:%M:%S GMT", header->second, &date, nullptr)) {
    return std::max(date - now, absl::ZeroDuration());
  }
  return std::nullopt;
}

absl::Status HttpFailure(const HttpResponse& response, const std::optional<ProviderError>& found,
                         const ApiKey& key, absl::string_view url, absl::string_view model,
                         absl::Time now) {
  const ProviderError error = found.value_or(ProviderError());
  const int http_status = response.status == 200 ? ImpliedHttpStatus(error) : response.status;
  const absl::StatusCode code = Classify(http_status, error);

  std::string said = found ? error.message : PrintableStart(response.body);
  const std::string& kind = error.code.empty() ? error.type : error.code;
  if (!kind.empty()) absl::StrAppend(&said, " (", kind, ")");
  std::string message = absl::StrCat("HTTP ", response.status, " from ", url);
  if (response.status == 200) absl::StrAppend(&message, " with an error in it");
  if (!said.empty()) absl::StrAppend(&message, ": ", key.Redacted(said));
  for (const char* header : {"x-request-id", "request-id"}) {
    if (const auto id = response.headers.find(header); id != response.headers.end()) {
      absl::StrAppend(&message, " [request ", key.Redacted(PrintableStart(id->second)), "]");
      break;
    }
  }
  absl::StrAppend(&message, Fix(code, http_status, key, model));

  absl::Status status(code, message);
  std::optional<absl::Duration> retry_after = ServerDelay(response, now);
  if (!retry_after) retry_after = error.retry_after;
  if (!retry_after && http_status == 429) {
    const absl::Duration pause =
        RateLimitPause(response.headers, TokenUsage{.uncached_input = 1, .visible_output = 1}, now);
    if (pause > absl::ZeroDuration()) retry_after = pause;
  }
  if (code == absl::StatusCode::kInvalidArgument) {
    NoteRefusal(error.code, error.parameter, key.Redacted(error.message), &status);
  }
  if (code == absl::StatusCode::kUnavailable) {
    if (retry_after) SetRetryAfter(&status, *retry_after);
    if (http_status == 429 || http_status == 529) SetThrottled(&status);
    const auto should_retry = response.headers.find("x-should-retry");
    if (should_retry != response.headers.end() && should_retry->second == "false") {
      SetFinal(&status);
    }
  }
  return status;
}

}  // namespace ksearch
