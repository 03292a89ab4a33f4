#include "coordinator/events/sinks/wandb_recorder.h"

#include <google/protobuf/struct.pb.h>

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "common/language.h"
#include "common/status_macros.h"
#include "common/textproto.h"

namespace ksearch::sinks {
namespace {

constexpr char kDefaultProject[] = "ksearch";
constexpr size_t kMostSourceBytes = 1 << 20;

// Fields of wandb_internal.Record (wandb/proto/wandb_internal.proto).
constexpr int kHistory = 2, kSummary = 3, kFiles = 6, kMetric = 12, kRun = 17, kExit = 18,
              kFinal = 20, kHeader = 21, kFooter = 22;

std::string JsonOf(const std::string& text) {
  google::protobuf::Value value;
  value.set_string_value(text);
  return ToJson(value, /*with_defaults=*/false, /*pretty=*/false);
}
std::string JsonOf(double number) { return absl::StrFormat("%.17g", number); }

// HistoryItem, SummaryItem and ConfigItem look alike.
WireMessage Item(const std::string& key, const std::string& json) {
  return WireMessage().Bytes(1, key).Bytes(16, json);
}

WireMessage Timestamp(absl::Time time) {
  const int64_t seconds = absl::ToUnixSeconds(time);
  WireMessage message;
  message.Varint(1, seconds);
  message.Varint(2, absl::ToInt64Nanoseconds(time - absl::FromUnixSeconds(seconds)));
  return message;
}

// The settings that are published: no addresses, files or programs.
std::vector<std::pair<std::string, std::string>> ConfigItems(const v1::RunConfig& config) {
  std::vector<std::pair<std::string, std::string>> items;
  const auto text = [&items](const std::string& name, const std::string& value) {
    if (!value.empty()) items.emplace_back(name, JsonOf(value));
  };
  text("task", config.task());
  text("strategy", config.strategy());
  if (const LanguageFacts* language = FindLanguage(config.language()); language != nullptr) {
    text("language", std::string(language->name));
  }
  text("provider", config.provider());
  text("model", config.model());
  text("reasoning_effort", config.reasoning_effort());
  text("device_model", config.platform().device_model());
  text("budget_usd", config.budget().usd());
  const auto number = [&items](const char* name, double value) {
    items.emplace_back(name, JsonOf(value));
  };
  if (config.has_rounds()) number("rounds", config.rounds());
  if (config.has_parallel()) number("parallel", config.parallel());
  if (config.has_seed()) number("seed", static_cast<double>(config.seed()));
  if (config.has_max_output_tokens()) number("max_output_tokens", config.max_output_tokens());
  if (config.world_model().preset() != v1::PRESET_UNSPECIFIED) {
    text("preset", absl::AsciiStrToLower(absl::StripPrefix(
                       v1::Preset_Name(config.world_model().preset()), "PRESET_")));
  }
  for (const v1::ModelUse& use : config.models()) {
    if (use.role().empty()) continue;
    text(absl::StrCat("model_", use.role()), use.model());
  }
  return items;
}

// A metric that is plotted against the round.
WireMessage MetricOverRounds(const std::string& glob) {
  return WireMessage().Bytes(2, glob).Bytes(4, "round");
}

}  // namespace

WandbRecorder::WandbRecorder(std::string run_id, v1::RunConfig config, Options options,
                             RunReader reader)
    : run_id_(std::move(run_id)),
      id_(SafeName(run_id_)),
      config_(std::move(config)),
      options_(std::move(options)),
      reader_(std::move(reader)) {}

absl::Status WandbRecorder::Record(const v1::RunEvent& event, RunFiles* files) {
  const bool to_draw = progress_.Add(event);
  if (folder_.empty()) RETURN_IF_ERROR(Begin(event, files));
  if (to_draw) RETURN_IF_ERROR(AddHistory(files));
  if (event.kind() == v1::RunEvent::NEW_INCUMBENT && !options_.without_sources) {
    RETURN_IF_ERROR(AddSources(event, files));
  }
  if (event.kind() == v1::RunEvent::NEW_INCUMBENT || event.kind() == v1::RunEvent::RUN_ENDED) {
    RETURN_IF_ERROR(AddTree(event, files));
    RETURN_IF_ERROR(AddSummary(files));
  }
  if (event.kind() == v1::RunEvent::RUN_ENDED) return End(event, files);
  return absl::OkStatus();
}

absl::Status WandbRecorder::Begin(const v1::RunEvent& event, RunFiles* files) {
  begun_ = FromProto(event.at());
  folder_ = absl::StrCat("offline-run-",
                         absl::FormatTime("%Y%m%d_%H%M%S", begun_, absl::UTCTimeZone()), "-", id_);
  records_ = 0;
  RETURN_IF_ERROR(files->Append(absl::StrCat(folder_, "/run-", id_, ".wandb"), log_.Begin()));
  // VersionInfo: producer 1, min_consumer 2.
  RETURN_IF_ERROR(Write(
      kHeader, WireMessage().Message(1, WireMessage().Bytes(1, "0.18.0").Bytes(2, "0.1")), files));
  WireMessage config;
  for (const auto& [key, json] : ConfigItems(config_)) config.Message(1, Item(key, json));
  WireMessage run;
  run.Bytes(1, id_);
  if (!options_.entity.empty()) run.Bytes(2, options_.entity);
  run.Bytes(3, options_.project.empty() ? kDefaultProject : options_.project);
  run.Message(4, config);
  run.Bytes(6, config_.task());
  if (!config_.strategy().empty()) run.Bytes(7, config_.strategy());
  run.Bytes(8, run_id_);
  run.Bytes(10, "ksearch");
  if (step_ >= 0) run.Varint(14, step_ + 1);
  run.Message(17, Timestamp(begun_));
  RETURN_IF_ERROR(Write(kRun, run, files));
  RETURN_IF_ERROR(Write(kMetric, WireMessage().Bytes(1, "round"), files));
  for (const char* glob : {"best/*", "candidate/*", "cost/*"}) {
    RETURN_IF_ERROR(Write(kMetric, MetricOverRounds(glob), files));
  }
  // Uploading requires that the folder exists, even if the run ends without a program.
  return AddFile("task.txt", config_.task() + "\n", files);
}

absl::Status WandbRecorder::End(const v1::RunEvent& event, RunFiles* files) {
  const bool failed = event.run().state() == v1::RUN_STATE_FAILED;
  WireMessage exit;
  if (failed) exit.Varint(1, 1);
  exit.Varint(2, absl::ToInt64Seconds(progress_.now() - begun_));
  RETURN_IF_ERROR(Write(kExit, exit, files));
  RETURN_IF_ERROR(Write(kFinal, WireMessage(), files));
  RETURN_IF_ERROR(Write(kFooter, WireMessage(), files));
  folder_.clear();
  return absl::OkStatus();
}

std::vector<std::pair<std::string, std::string>> WandbRecorder::Moment() const {
  return {{"_step", absl::StrCat(step_)},
          {"_timestamp",
           JsonOf(absl::FDivDuration(progress_.now() - absl::UnixEpoch(), absl::Seconds(1)))},
          {"_runtime", JsonOf(absl::ToDoubleSeconds(progress_.now() - progress_.started()))}};
}

absl::Status WandbRecorder::AddHistory(RunFiles* files) {
  ++step_;
  WireMessage history;
  for (const auto& [name, value] : progress_.Values()) {
    history.Message(1, Item(name, JsonOf(value)));
  }
  for (const auto& [name, json] : Moment()) history.Message(1, Item(name, json));
  history.Message(2, WireMessage().Varint(1, step_));
  return Write(kHistory, history, files);
}

absl::Status WandbRecorder::AddSummary(RunFiles* files) {
  WireMessage summary;
  for (const auto& [name, value] : progress_.Values()) {
    summary.Message(1, Item(name, JsonOf(value)));
  }
  for (const auto& [name, json] : Moment()) summary.Message(1, Item(name, json));
  summary.Message(
      1, Item("_wandb",
              absl::StrCat("{\"runtime\": ", absl::ToInt64Seconds(progress_.now() - begun_), "}")));
  if (!progress_.best_candidate().empty()) {
    summary.Message(1, Item("best/candidate", JsonOf(progress_.best_candidate())));
  }
  return Write(kSummary, summary, files);
}

absl::Status WandbRecorder::AddSources(const v1::RunEvent& event, RunFiles* files) {
  ASSIGN_OR_RETURN(const v1::Sources sources, reader_.sources(event.candidate_id()));
  const std::string folder = absl::StrFormat("incumbents/round_%04d_%s", event.round(),
                                             SafeName(event.candidate_id()).substr(0, 12));
  for (const v1::SourceFile& file : sources.files()) {
    // The path comes from a model: SafeName reduces it to plain characters.
    RETURN_IF_ERROR(AddFile(absl::StrCat(folder, "/", SafeName(file.path())),
                            absl::string_view(file.content()).substr(0, kMostSourceBytes), files));
  }
  return absl::OkStatus();
}

absl::Status WandbRecorder::AddTree(const v1::RunEvent& event, RunFiles* files) {
  const auto tree = reader_.world_model();
  if (absl::IsNotFound(tree.status())) return absl::OkStatus();  // the strategy keeps none
  RETURN_IF_ERROR(tree.status());
  return AddFile(absl::StrFormat("world_model/event_%06d.json", event.seq()), ToJson(*tree), files);
}

absl::Status WandbRecorder::AddFile(const std::string& path, absl::string_view content,
                                    RunFiles* files) {
  RETURN_IF_ERROR(files->Place(absl::StrCat(folder_, "/files/", path), content));
  // FilesItem: path 1, policy 2 (1: uploaded at the end).
  return Write(kFiles, WireMessage().Message(1, WireMessage().Bytes(1, path).Varint(2, 1)), files);
}

absl::Status WandbRecorder::Write(int field, const WireMessage& body, RunFiles* files) {
  WireMessage record;
  record.Varint(1, ++records_).Message(field, body);
  return files->Append(absl::StrCat(folder_, "/run-", id_, ".wandb"), log_.Add(record.bytes()));
}

}  // namespace ksearch::sinks
