#include "coordinator/llm/replay/recording.h"

#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <tuple>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/digest.h"
#include "common/status_macros.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

constexpr int kVersion = 1;
constexpr int64_t kMaxFileBytes = int64_t{1} << 30;

size_t CommonPrefix(absl::string_view a, absl::string_view b) {
  size_t n = 0;
  while (n < a.size() && n < b.size() && a[n] == b[n]) ++n;
  return n;
}

// `text` around byte `at`, in one line of at most 80 characters.
std::string Around(absl::string_view text, size_t at) {
  const size_t line_begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
  const size_t begin = std::max(line_begin, at > 40 ? at - 40 : 0);
  const size_t end = std::min(text.find('\n', at), text.size());
  if (at >= text.size() && begin >= text.size()) return "the end of the text";
  std::string shown(text.substr(begin, std::min<size_t>(end - begin, 80)));
  for (char& c : shown) {
    if (!absl::ascii_isprint(static_cast<unsigned char>(c))) c = '?';  // it may be cut anywhere
  }
  return absl::StrCat(begin > line_begin ? "..." : "", "\"", shown, "\"");
}

void CompareTexts(absl::string_view name, absl::string_view recorded, absl::string_view asked,
                  std::vector<std::string>* differences) {
  if (recorded == asked) return;
  const size_t at = CommonPrefix(recorded, asked);
  const auto line =
      std::count(recorded.begin(), recorded.begin() + static_cast<ptrdiff_t>(at), '\n');
  differences->push_back(absl::StrCat(name, " differs from line ", line + 1, " on: recorded ",
                                      Around(recorded, at), ", asked ", Around(asked, at)));
}

template <typename Value>
void CompareValues(absl::string_view name, const Value& recorded, const Value& asked,
                   std::vector<std::string>* differences) {
  if (recorded == asked) return;
  differences->push_back(absl::StrCat(name, ": recorded '", recorded, "', asked '", asked, "'"));
}

std::string Describe(const v1::RecordedCall& call) {
  return absl::StrCat("call ", call.number(), " (", call.purpose(),
                      call.node().empty() ? "" : absl::StrCat(" of node ", call.node()),
                      ", attempt ", call.attempt(), ")");
}

}  // namespace

absl::StatusOr<Recording> ParseRecording(absl::string_view text, absl::string_view name) {
  Recording recording;
  bool header = false;
  int number = 0;
  for (absl::string_view json : absl::StrSplit(text, '\n')) {
    ++number;
    if (json.empty()) continue;
    const auto fail = [&](absl::string_view what) {
      return absl::InvalidArgumentError(absl::StrCat(name, ":", number, ": ", what));
    };
    v1::RecordedLine line;
    google::protobuf::util::JsonParseOptions options;
    options.ignore_unknown_fields = true;
    const auto status = google::protobuf::util::JsonStringToMessage(
        google::protobuf::StringPiece(json.data(), json.size()), &line, options);
    if (!status.ok()) {
      return fail(absl::StrCat(
          "not a line of a recorded run: ",
          std::string(status.message().data(), status.message().size()).substr(0, 200)));
    }
    if (!header && !line.has_header()) {
      return fail(
          "the first line must be the header; is this a file of ksearch export --cassette?");
    }
    if (line.has_header()) {
      if (header) return fail("a second header");
      header = true;
      recording.header = line.header();
      if (recording.header.version() != kVersion) {
        return fail(absl::StrCat("version ", recording.header.version(), "; this program reads ",
                                 kVersion));
      }
    } else if (line.has_call()) {
      recording.calls.push_back(std::move(*line.mutable_call()));
    } else if (line.has_job()) {
      recording.jobs.push_back(std::move(*line.mutable_job()));
    }
  }
  if (!header) return absl::InvalidArgumentError(absl::StrCat(name, ": empty"));
  std::stable_sort(recording.calls.begin(), recording.calls.end(),
                   [](const auto& a, const auto& b) { return a.number() < b.number(); });
  return recording;
}

absl::StatusOr<Recording> ReadRecording(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaxFileBytes));
  return ParseRecording(text, path);
}

std::string RecordingLine(const v1::RecordedLine& line) {
  return absl::StrCat(ToJson(line, /*with_defaults=*/false, /*pretty=*/false), "\n");
}

std::string RequestKey(const v1::RecordedCall& request) {
  return CanonicalBytes()
      .Add("ksearch.request.1")
      .Add(request.model())
      .Add(request.system())
      .Add(request.user())
      .Add(int64_t{request.max_output_tokens()})
      .Add(request.reasoning_effort())
      .Sha256();
}

std::string ExplainMiss(const Recording& recording, const v1::RecordedCall& request) {
  const std::string asked = absl::StrCat("no reply is recorded for ", Describe(request), " of run ",
                                         recording.header.run_id());
  if (recording.calls.empty()) return absl::StrCat(asked, ": the cassette has no calls");
  const v1::RecordedCall* nearest = nullptr;
  std::tuple<int, size_t> best;
  for (const v1::RecordedCall& call : recording.calls) {
    const int labels = 4 * (call.number() == request.number()) +
                       4 * (call.purpose() == request.purpose()) +
                       2 * (call.node() == request.node()) + (call.attempt() == request.attempt());
    const std::tuple<int, size_t> alike = {labels, CommonPrefix(call.user(), request.user())};
    if (nearest == nullptr || alike > best) {
      nearest = &call;
      best = alike;
    }
  }
  std::vector<std::string> differences;
  CompareValues("model", nearest->model(), request.model(), &differences);
  CompareValues("reasoning_effort", nearest->reasoning_effort(), request.reasoning_effort(),
                &differences);
  CompareValues("max_output_tokens", nearest->max_output_tokens(), request.max_output_tokens(),
                &differences);
  CompareTexts("the rules", nearest->system(), request.system(), &differences);
  CompareTexts("the prompt", nearest->user(), request.user(), &differences);
  if (differences.empty()) differences.emplace_back("nothing, but its replies are used up");
  return absl::StrCat(asked, "; nearest is ", Describe(*nearest), ", where ",
                      absl::StrJoin(differences, "; "));
}

}  // namespace ksearch
