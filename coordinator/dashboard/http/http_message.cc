#include "coordinator/dashboard/http/http_message.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "common/status_macros.h"

namespace ksearch::dashboard {
namespace {

int HexDigit(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  const char lower = absl::ascii_tolower(static_cast<unsigned char>(digit));
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

absl::StatusOr<std::string> Decode(absl::string_view text, bool plus_is_space) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    char byte = text[i];
    if (byte == '%') {
      const int high = i + 2 < text.size() ? HexDigit(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? HexDigit(text[i + 2]) : -1;
      if (high < 0 || low < 0) {
        return absl::InvalidArgumentError("the address has a '%' without two hex digits after it");
      }
      byte = static_cast<char>(high * 16 + low);
      i += 2;
    } else if (byte == '+' && plus_is_space) {
      byte = ' ';
    }
    if (byte == '\0') return absl::InvalidArgumentError("the address has a zero byte");
    decoded.push_back(byte);
  }
  return decoded;
}

int HttpStatusOf(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kOk:
      return 200;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kOutOfRange:
      return 400;
    case absl::StatusCode::kUnauthenticated:
      return 401;
    case absl::StatusCode::kPermissionDenied:
      return 403;
    case absl::StatusCode::kNotFound:
      return 404;
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kAborted:
    case absl::StatusCode::kFailedPrecondition:
      return 409;
    case absl::StatusCode::kResourceExhausted:
      return 429;
    case absl::StatusCode::kUnimplemented:
      return 501;
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDeadlineExceeded:
      return 503;
    default:
      return 500;
  }
}

}  // namespace

const std::string& HttpRequest::Header(const std::string& name) const {
  static const std::string* const none = new std::string;
  const auto found = headers.find(name);
  return found == headers.end() ? *none : found->second;
}

absl::Status ParseTarget(absl::string_view target, HttpRequest* request) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(target, absl::MaxSplits('?', 1));
  ASSIGN_OR_RETURN(request->path, Decode(parts.first, /*plus_is_space=*/false));
  if (request->path.empty() || request->path[0] != '/') {
    return absl::InvalidArgumentError("the address must begin with '/'");
  }
  request->query.clear();
  for (const absl::string_view field : absl::StrSplit(parts.second, '&', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> pair =
        absl::StrSplit(field, absl::MaxSplits('=', 1));
    ASSIGN_OR_RETURN(const std::string name, Decode(pair.first, /*plus_is_space=*/true));
    ASSIGN_OR_RETURN(request->query[name], Decode(pair.second, /*plus_is_space=*/true));
  }
  return absl::OkStatus();
}

HttpAnswer TextAnswer(int status, absl::string_view content_type, std::string body) {
  HttpAnswer answer;
  answer.status = status;
  answer.content_type = std::string(content_type);
  answer.body = std::make_shared<const std::string>(std::move(body));
  return answer;
}

HttpAnswer ErrorAnswer(const absl::Status& status) {
  return ErrorAnswer(HttpStatusOf(status.code()),
                     absl::string_view(status.message().data(), status.message().size()));
}

HttpAnswer ErrorAnswer(int http_status, absl::string_view text) {
  HttpAnswer answer = TextAnswer(http_status, "application/json",
                                 absl::StrCat("{\"error\": ", JsonString(text), "}\n"));
  if (http_status == 401) answer.headers.emplace_back("WWW-Authenticate", "Bearer");
  return answer;
}

std::string JsonString(absl::string_view text) {
  std::string out = "\"";
  for (const char each : text) {
    const auto byte = static_cast<unsigned char>(each);
    if (byte == '"' || byte == '\\') {
      absl::StrAppend(&out, "\\", absl::string_view(&each, 1));
    } else if (byte < 0x20 || byte == '<') {  // '<': harmless wherever it is pasted
      absl::StrAppendFormat(&out, "\\u%04x", byte);
    } else {
      out.push_back(each);
    }
  }
  out.push_back('"');
  return out;
}

}  // namespace ksearch::dashboard
