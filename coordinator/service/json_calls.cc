#include "coordinator/service/json_calls.h"

#include "absl/strings/str_cat.h"
#include "common/grpc_channel.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "google/protobuf/util/json_util.h"

namespace ksearch {
namespace {

absl::Status ParseRequest(absl::string_view json, google::protobuf::Message* request) {
  if (json.empty()) return absl::OkStatus();
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = false;
  const auto status = google::protobuf::util::JsonStringToMessage(
      google::protobuf::StringPiece(json.data(), json.size()), request, options);
  if (status.ok()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("this is not a valid ", request->GetTypeName(),
                                                 ": ", std::string(status.message())));
}

template <typename Request, typename Reply>
std::function<absl::StatusOr<std::string>(absl::string_view)> Wrap(
    SearchService* service,
    grpc::Status (SearchService::*method)(grpc::ServerContext*, const Request*, Reply*)) {
  return [service, method](absl::string_view json) -> absl::StatusOr<std::string> {
    Request request;
    RETURN_IF_ERROR(ParseRequest(json, &request));
    Reply reply;
    // None of the methods below uses its context.
    RETURN_IF_ERROR(FromGrpc((service->*method)(nullptr, &request, &reply)));
    return ToJson(reply, /*with_defaults=*/false, /*pretty=*/false);
  };
}

}  // namespace

JsonCalls::JsonCalls(SearchService* service) {
  methods_["ListRuns"] = Wrap(service, &SearchService::ListRuns);
  methods_["GetRun"] = Wrap(service, &SearchService::GetRun);
  methods_["ListEvents"] = Wrap(service, &SearchService::ListEvents);
  methods_["GetTree"] = Wrap(service, &SearchService::GetTree);
  methods_["GetBest"] = Wrap(service, &SearchService::GetBest);
  methods_["GetCandidate"] = Wrap(service, &SearchService::GetCandidate);
  methods_["ListWorkers"] = Wrap(service, &SearchService::ListWorkers);
  methods_["GetDemand"] = Wrap(service, &SearchService::GetDemand);
  methods_["ListTasks"] = Wrap(service, &SearchService::ListTasks);
  methods_["ListSolutions"] = Wrap(service, &SearchService::ListSolutions);
  methods_["ListJobs"] = Wrap(service, &SearchService::ListJobs);
  methods_["ListResults"] = Wrap(service, &SearchService::ListResults);
  methods_["ReportSuite"] = Wrap(service, &SearchService::ReportSuite);
  methods_["ListPrompts"] = Wrap(service, &SearchService::ListPrompts);
  methods_["GetPrompt"] = Wrap(service, &SearchService::GetPrompt);
  methods_["ListMemory"] = Wrap(service, &SearchService::ListMemory);
  methods_["GetRunMemory"] = Wrap(service, &SearchService::GetRunMemory);
  methods_["GetServerFacts"] = Wrap(service, &SearchService::GetServerFacts);
  methods_["StopRun"] = Wrap(service, &SearchService::StopRun);
  methods_["ResumeRun"] = Wrap(service, &SearchService::ResumeRun);
  methods_["SteerRun"] = Wrap(service, &SearchService::SteerRun);
  methods_["AnswerPrompt"] = Wrap(service, &SearchService::AnswerPrompt);
  methods_["DrainWorker"] = Wrap(service, &SearchService::DrainWorker);
}

absl::StatusOr<std::string> JsonCalls::Call(absl::string_view method,
                                            absl::string_view json) const {
  const auto found = methods_.find(method);
  if (found == methods_.end()) {
    std::string known;
    for (const auto& [name, unused] : methods_)
      absl::StrAppend(&known, known.empty() ? "" : ", ", name);
    return absl::NotFoundError(
        absl::StrCat("no method '", method.substr(0, 64), "' over HTTP (known: ", known, ")"));
  }
  return found->second(json);
}

}  // namespace ksearch
