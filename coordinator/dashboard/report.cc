#include "coordinator/dashboard/report.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <set>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/digest.h"
#include "common/log.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "coordinator/dashboard/asset.h"
#include "proto/search_service.pb.h"

namespace ksearch::dashboard {
namespace {

// The name of the module that replaces `module` in a report, which has no server.
absl::string_view InReport(absl::string_view module) {
  if (module == "server.js") return "report_server.js";
  if (module == "steering.js") return "report_steering.js";
  return module;
}

absl::string_view AssetText(absl::string_view path) {
  for (const Asset& asset : Assets()) {
    if (asset.path == path) return asset.content;
  }
  CHECK(path.empty());  // no asset has this name
  return "";
}

// Parses `import { a, b } from "./x.js";` into names and module; false: the line is not an import.
bool ParseImport(absl::string_view line, std::string* names, std::string* module) {
  if (!absl::ConsumePrefix(&line, "import { ")) return false;
  const size_t brace = line.find(" } from \"./");
  CHECK(brace != absl::string_view::npos);
  *names = std::string(line.substr(0, brace));
  line.remove_prefix(brace + 11);
  CHECK(absl::ConsumeSuffix(&line, "\";"));
  *module = std::string(line);
  return true;
}

// `export async function f(...) {` -> f; empty if the line is not an export. Removes the word
// `export` from the line.
std::string ParseExport(absl::string_view* line) {
  if (!absl::ConsumePrefix(line, "export ")) return "";
  absl::string_view rest = *line;
  absl::ConsumePrefix(&rest, "async ");
  for (const absl::string_view kind : {"function ", "class ", "const "}) {
    if (!absl::ConsumePrefix(&rest, kind)) continue;
    return std::string(rest.substr(0, rest.find_first_of(" (")));
  }
  CHECK(rest.empty());  // another kind of export
  return "";
}

void AppendModule(const std::string& name, std::set<std::string>* done, std::string* script) {
  if (!done->insert(name).second) return;
  std::string body;
  std::vector<std::string> exported;
  for (absl::string_view line : absl::StrSplit(AssetText("/" + name), '\n')) {
    std::string names, module;
    if (ParseImport(line, &names, &module)) {
      module = std::string(InReport(module));
      AppendModule(module, done, script);
      absl::StrAppend(&body, "const { ", names, " } = modules[\"", module, "\"];\n");
      continue;
    }
    if (std::string what = ParseExport(&line); !what.empty()) exported.push_back(std::move(what));
    absl::StrAppend(&body, line, "\n");
  }
  absl::StrAppend(script, "modules[\"", name, "\"] = (() => {\n", body, "return { ",
                  absl::StrJoin(exported, ", "), " };\n})();\n");
}

// The digest by which a Content-Security-Policy names a script or style.
std::string PolicyDigest(absl::string_view text) {
  return absl::StrCat("'sha256-", absl::Base64Escape(absl::HexStringToBytes(Sha256Hex(text))), "'");
}

// JSON for a script element: escapes '<', which occurs only in JSON strings, so that nothing ends
// the element early.
std::string InElement(const std::string& json) {
  return absl::StrReplaceAll(json, {{"<", "\\u003c"}});
}

std::string RequestText(const std::string& run_id, const std::string& field,
                        const std::string& value) {
  google::protobuf::Struct request;
  (*request.mutable_fields())["run_id"].set_string_value(run_id);
  if (!field.empty()) (*request.mutable_fields())[field].set_string_value(value);
  return ToJson(request, /*with_defaults=*/false, /*pretty=*/false);
}

}  // namespace

std::string BundleModules(absl::string_view entry) {
  std::string script = "\"use strict\";\nconst modules = {};\n";
  std::set<std::string> done;
  AppendModule(std::string(entry), &done, &script);
  return script;
}

absl::StatusOr<std::string> MakeReport(
    const std::function<absl::StatusOr<std::string>(absl::string_view, absl::string_view)>& call,
    const std::string& run_id, int64_t most_bytes, absl::Time now) {
  ASSIGN_OR_RETURN(const std::string run, call("GetRun", RequestText(run_id, "", "")));
  const auto tree = call("GetTree", RequestText(run_id, "", ""));
  if (!tree.ok() && !absl::IsNotFound(tree.status())) return tree.status();

  std::vector<std::string> events;  // as JSON
  std::vector<std::string> ids;     // of candidates, in order of first mention
  std::set<std::string> known;
  for (int64_t after = 0;;) {
    ASSIGN_OR_RETURN(const std::string page,
                     call("ListEvents", RequestText(run_id, "after_seq", absl::StrCat(after))));
    v1::ListEventsReply reply;
    const auto parsed = google::protobuf::util::JsonStringToMessage(page, &reply);
    if (!parsed.ok()) return absl::InternalError("ListEvents answers no ListEventsReply");
    if (reply.events().empty()) break;
    for (const v1::RunEvent& event : reply.events()) {
      events.push_back(ToJson(event, /*with_defaults=*/false, /*pretty=*/false));
      if (!event.candidate_id().empty() && known.insert(event.candidate_id()).second) {
        ids.push_back(event.candidate_id());
      }
    }
    after = reply.events(reply.events_size() - 1).seq();
  }

  std::string recorded = absl::StrCat(
      "{\"made_at\": \"", absl::FormatTime(absl::RFC3339_sec, now, absl::UTCTimeZone()),
      "\",\n\"run\": ", run, ",\n\"tree\": ", tree.ok() ? *tree : "null", ",\n\"events\": [",
      absl::StrJoin(events, ",\n"), "],\n\"candidates\": [");
  bool first = true;
  for (const std::string& id : ids) {
    const auto candidate = call("GetCandidate", RequestText(run_id, "candidate_id", id));
    if (absl::IsNotFound(candidate.status())) continue;
    RETURN_IF_ERROR(candidate.status());
    absl::StrAppend(&recorded, first ? "" : ",\n", *candidate);
    first = false;
    if (static_cast<int64_t>(recorded.size()) > most_bytes) {
      return absl::ResourceExhaustedError(
          absl::StrCat("the report of run ", run_id, " would be larger than ", most_bytes,
                       " bytes; `ksearch export --cassette` has no such bound"));
    }
  }
  recorded += "]}";

  const std::string script = BundleModules("app.js");
  const std::string style(AssetText("/page.css"));
  const std::string policy =
      absl::StrCat("default-src 'none'; script-src ", PolicyDigest(script), "; style-src ",
                   PolicyDigest(style), "; img-src data:; base-uri 'none'; form-action 'none'");
  const std::string icon =
      absl::StrCat("data:image/svg+xml;base64,", absl::Base64Escape(AssetText("/icon.svg")));
  return absl::StrCat(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"",
      policy,
      "\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>ksearch report</title>\n<link rel=\"icon\" href=\"",
      icon, "\">\n<style>", style,
      "</style>\n</head>\n<body>\n<header><a class=\"name\" href=\"#/\">ksearch</a>"
      "<span id=\"connection\" class=\"quiet\"></span></header>\n<div id=\"notices\"></div>\n"
      "<main id=\"main\"></main>\n<noscript><p>This report needs JavaScript.</p></noscript>\n"
      "<script type=\"application/json\" id=\"recorded\">",
      InElement(recorded), "</script>\n<script>", script, "</script>\n</body>\n</html>\n");
}

}  // namespace ksearch::dashboard
