#include <google/protobuf/struct.pb.h>

#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/commands.h"
#include "cli/json_output.h"
#include "cli/text.h"

namespace ksearch {
namespace {

using Stub = v1::SearchService::Stub;

// What the events of a run say about one candidate.
struct Row {
  std::string id;
  int round = 0;
  std::string node;
  std::string state = "proposed";
  double speedup = 0;    // screened, over the baseline
  double confirmed = 0;  // over the baseline
  std::string text;      // why it failed
};

void AddEvent(const v1::RunEvent& event, Row* row) {
  if (event.round() > 0) row->round = event.round();
  if (!event.node_id().empty()) row->node = event.node_id();
  switch (event.kind()) {
    case v1::RunEvent::CANDIDATE_PASSED:
      row->state = "passed";
      row->speedup = event.candidate().speedup() > 0 ? event.candidate().speedup() : event.score();
      break;
    case v1::RunEvent::CANDIDATE_FAILED:
      row->state = OutcomeText(event.candidate().outcome());
      row->text = event.text();
      break;
    case v1::RunEvent::NEW_INCUMBENT:
      row->state = "confirmed";
      row->confirmed = event.confirmation().over_baseline() > 0
                           ? event.confirmation().over_baseline()
                           : event.confirmation().speedup();
      break;
    case v1::RunEvent::CONFIRMATION_REFUSED:
      row->state = "refused";
      break;
    default:
      break;
  }
}

std::string TimesText(double ratio) { return ratio > 0 ? absl::StrFormat("%.2fx", ratio) : "-"; }

}  // namespace

int CandidateCommand(Client* client, const Options& options) {
  v1::ListEventsRequest request;
  request.set_run_id(options.run_id);
  std::vector<Row> rows;
  std::map<std::string, size_t> places;
  while (true) {
    const auto page =
        client->Call<v1::ListEventsRequest, v1::ListEventsReply>(&Stub::ListEvents, request);
    if (!page.ok()) return Fail(page.status());
    if (page->events_size() == 0) break;
    request.set_after_seq(page->events(page->events_size() - 1).seq());
    for (const v1::RunEvent& event : page->events()) {
      if (event.candidate_id().empty()) continue;
      const auto place = places.try_emplace(event.candidate_id(), rows.size());
      if (place.second) rows.emplace_back().id = event.candidate_id();
      AddEvent(event, &rows[place.first->second]);
    }
  }
  if (options.json) {
    // One line for each.
    for (const Row& row : rows) {
      google::protobuf::Struct json;
      auto& fields = *json.mutable_fields();
      fields["candidate_id"].set_string_value(row.id);
      fields["round"].set_number_value(row.round);
      fields["node_id"].set_string_value(row.node);
      fields["state"].set_string_value(row.state);
      if (row.speedup > 0) fields["speedup"].set_number_value(row.speedup);
      if (row.confirmed > 0) fields["confirmed_speedup"].set_number_value(row.confirmed);
      if (!row.text.empty()) fields["text"].set_string_value(row.text);
      PrintJsonLine(json);
    }
    return kExitOk;
  }
  std::vector<std::vector<std::string>> table = {
      {"candidate", "round", "node", "state", "screened", "confirmed"}};
  for (const Row& row : rows) {
    table.push_back({ShortId(row.id), absl::StrCat(row.round), row.node, row.state,
                     TimesText(row.speedup), TimesText(row.confirmed)});
  }
  std::fputs(Table(table).c_str(), stdout);
  return kExitOk;
}

}  // namespace ksearch
