#include <cstdio>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/commands.h"
#include "cli/evaluation.h"
#include "cli/json_output.h"
#include "cli/source_files.h"
#include "cli/text.h"
#include "common/language.h"
#include "common/textproto.h"

namespace ksearch {

int EvalCommand(Client* client, const Options& options) {
  v1::EvaluateRequest request;
  request.set_task(options.task);
  if (options.wait_for_workers.has_value()) {
    *request.mutable_wait_for_worker() = ToProto(*options.wait_for_workers);
  }
  const auto files = ReadSourceFiles(options.files);
  if (!files.ok()) return Fail(files.status());
  v1::Language language = LanguageOf(*files);
  if (!options.language.empty()) {
    if (const LanguageFacts* const known = FindLanguage(options.language); known != nullptr) {
      language = known->id;
    }
  }
  request.mutable_sources()->set_language(language);
  for (const v1::SourceFile& file : *files) *request.mutable_sources()->add_files() = file;
  request.set_solution_name(options.solution);
  request.set_rival_solution_name(options.rival_solution);
  if (!options.rival_files.empty()) {
    const auto rival = ReadSourceFiles(options.rival_files);
    if (!rival.ok()) return Fail(rival.status());
    // Its language may differ from the candidate's.
    request.mutable_rival()->set_language(options.language.empty() ? LanguageOf(*rival) : language);
    for (const v1::SourceFile& file : *rival) *request.mutable_rival()->add_files() = file;
  }
  request.set_kind(options.confirm      ? v1::JOB_KIND_CONFIRM
                   : options.build_only ? v1::JOB_KIND_BUILD
                   : options.check_only ? v1::JOB_KIND_CHECK
                                        : v1::JOB_KIND_SCREEN);
  request.set_suite_mode(options.compat);
  if (options.build_time.has_value()) {
    *request.mutable_limits()->mutable_build_time() = ToProto(*options.build_time);
  }
  request.set_repeat(options.repeat);
  request.set_profile(options.profile);
  request.set_architecture(options.architecture);
  request.set_device_model(options.device_model);

  std::string packet;
  v1::EvaluateReply beside;
  const absl::StatusOr<v1::JobResult> evaluated = Evaluate(client, request, "", &packet, &beside);
  if (!evaluated.ok()) return Fail(WithLocalAdvice(evaluated.status(), options));
  const v1::JobResult& result = *evaluated;
  std::string shown = options.json ? ToJson(result)
                                   : absl::StrCat(ResultText(result, packet),
                                                  SuiteScoresText(beside.suite_scores()),
                                                  DegenerateText(beside.degenerate()));
  if (options.json && options.profile) shown = WithField(shown, "packet", packet);
  if (options.json && beside.ByteSizeLong() > 0) {
    shown = Joined(shown, ToJson(beside, /*with_defaults=*/false));
  }
  if (!absl::EndsWith(shown, "\n")) shown += "\n";
  std::fputs(shown.c_str(), stdout);
  return ExitCodeFor(result);
}

}  // namespace ksearch
