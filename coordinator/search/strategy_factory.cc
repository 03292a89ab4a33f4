#include "coordinator/search/strategy_factory.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/log.h"
#include "coordinator/proposer/attempt_prompt.h"
#include "coordinator/proposer/confirmation_text.h"
#include "coordinator/proposer/judge_prompt.h"
#include "coordinator/proposer/note_prompt.h"
#include "coordinator/proposer/prompt.h"
#include "coordinator/proposer/reply_parser.h"
#include "coordinator/search/attempts/attempt_search.h"
#include "coordinator/search/attempts/best_of_n.h"
#include "coordinator/search/attempts/sequential.h"
#include "coordinator/search/call_builder.h"
#include "coordinator/search/population/adaevolve.h"
#include "coordinator/search/population/evoengineer.h"
#include "coordinator/search/population/openevolve.h"
#include "coordinator/search/population/puct.h"
#include "coordinator/search/population/shinka.h"
#include "coordinator/search/presets/tree_policy.h"
#include "coordinator/search/racing/racing.h"
#include "coordinator/search/setting_faults.h"
#include "coordinator/search/world_model_settings.h"
#include "coordinator/search/world_model_strategy.h"

namespace ksearch {
namespace {

ParseCode CodeParser(const SearchContext& context) {
  return [beginnings = FormBeginnings(context.task, context.config.language())](
             const std::string& reply, v1::Language language) {
    return ParseCodeReply(reply, language, beginnings);
  };
}

JudgeProposer Judge() {
  return {BuildJudgePrompt, [](const std::string& reply) { return ParseVerdictReply(reply); }};
}

std::unique_ptr<SearchStrategy> MakeWorldModel(const SearchContext& context) {
  Proposer proposer;
  proposer.code_prompt = BuildCodePrompt;
  proposer.world_model_prompt = BuildWorldModelPrompt;
  proposer.parse_code = CodeParser(context);
  proposer.read_confirmation = ConfirmationFindings;
  proposer.judge = Judge();
  EditReplyOptions options;
  options.clamp = MakeTreePolicy(context.config.world_model().preset())->ClampsEdits();
  proposer.parse_edits = [options](const std::string& reply) {
    return ParseEditReply(reply, options);
  };
  return std::make_unique<WorldModelStrategy>(context, std::move(proposer));
}

std::unique_ptr<SearchStrategy> MakeAttempts(const char* name, const SearchContext& context,
                                             std::unique_ptr<const AttemptPolicy> policy) {
  AttemptProposer proposer;
  proposer.prompt = BuildAttemptPrompt;
  proposer.parse_code = CodeParser(context);
  proposer.parse_patch = [beginnings = FormBeginnings(context.task, context.config.language())](
                             const std::string& reply, const v1::Sources& base, v1::ReplyForm) {
    return ParsePatchReply(reply, base, beginnings);
  };
  proposer.note_prompt = BuildNotePrompt;
  proposer.parse_points = [](const std::string& reply, int wanted) {
    return ParsePointsReply(reply, wanted);
  };
  proposer.read_confirmation = ConfirmationFindings;
  proposer.judge = Judge();
  return std::make_unique<AttemptSearch>(name, context, std::move(proposer), std::move(policy));
}

// One row for each strategy. Its settings are the field of RunConfig with its name.
struct Row {
  const char* name;
  std::vector<StrategyRole> roles;
  void (*complete)(v1::RunConfig*, SettingFaults*);
  std::unique_ptr<SearchStrategy> (*make)(const SearchContext&);
};

const std::vector<Row>& Rows() {
  static const auto* const rows = new std::vector<Row>{
      {"world_model",
       {{"world_model", false, 0}, {"code", true, 1}},
       [](v1::RunConfig* config, SettingFaults* faults) {
         CompleteWorldModelSettings(config->mutable_world_model(), faults);
       },
       MakeWorldModel},
      {"best_of_n",
       {{"code", true, 1}},
       [](v1::RunConfig* config, SettingFaults* faults) {
         BestOfN::Complete(config->mutable_best_of_n(), faults);
       },
       [](const SearchContext& context) {
         return MakeAttempts("best_of_n", context,
                             std::make_unique<BestOfN>(context.config.best_of_n()));
       }},
      {"sequential",
       {{"code", true, 1}},
       [](v1::RunConfig* config, SettingFaults* faults) {
         Sequential::Complete(config->mutable_sequential(), faults);
       },
       [](const SearchContext& context) {
         return MakeAttempts("sequential", context,
                             std::make_unique<Sequential>(context.config.sequential()));
       }},
      {"openevolve",
       {{"code", true, 1}},
       [](v1::RunConfig* config, SettingFaults* faults) {
         OpenEvolve::Complete(config->mutable_openevolve(), faults);
       },
       [](const SearchContext& context) {
         return MakeAttempts("openevolve", context,
                             std::make_unique<OpenEvolve>(context.config.openevolve()));
       }},
      {"evoengineer",
       {{"code", true, 1}},
       [](v1::RunConfig* config, SettingFaults* faults) {
         EvoEngineer::Complete(config->mutable_evoengineer(), faults);
       },
       [](const SearchContext& context) {
         return MakeAttempts("evoengineer", context,
                             std::make_unique<EvoEngineer>(context.config.evoengineer()));
       }},
      {"shinka",
       {{"code", true, 1}, {"notes", false, 0.1}},
       [](v1::RunConfig* config, SettingFaults* faults) {
         Shinka::Complete(config->mutable_shinka(), faults);
       },
       [](const SearchContext& context) {
         return MakeAttempts("shinka", context,
                             std::make_unique<Shinka>(context.config.shinka(), context.programs));
       }},
      {"racing",
       {{"code", true, 1}, {"notes", false, 0.1}},
       [](v1::RunConfig* config, SettingFaults* faults) {
         Racing::Complete(config->parallel(), config->mutable_racing(), faults);
       },
       [](const SearchContext& context) {
         return MakeAttempts(
             "racing", context,
             std::make_unique<Racing>(context.config.racing(), context.config.rounds()));
       }},
      {"puct",
       {{"code", true, 1}},
       [](v1::RunConfig* config, SettingFaults* faults) {
         Puct::Complete(config->mutable_puct(), faults);
       },
       [](const SearchContext& context) {
         return MakeAttempts("puct", context, std::make_unique<Puct>(context.config.puct()));
       }},
      {"adaevolve",
       {{"code", true, 1}, {"notes", false, 0.1}},
       [](v1::RunConfig* config, SettingFaults* faults) {
         AdaEvolve::Complete(config->mutable_adaevolve(), faults);
       },
       [](const SearchContext& context) {
         return MakeAttempts("adaevolve", context,
                             std::make_unique<AdaEvolve>(context.config.adaevolve()));
       }},
  };
  return *rows;
}

// The strategy's row; null: there is no such strategy.
const Row* FindRow(absl::string_view strategy) {
  const absl::string_view wanted = strategy.empty() ? kDefaultStrategy : strategy;
  for (const Row& row : Rows()) {
    if (wanted == row.name) return &row;
  }
  return nullptr;
}

bool HasTree(const v1::RunConfig& config) {
  return config.strategy().empty() || config.strategy() == kDefaultStrategy;
}

using google::protobuf::FieldDescriptor;

// The strategy's settings, as a field of RunConfig, and their field `embeddings`; null: there is
// none.
struct EmbeddingsSetting {
  const FieldDescriptor* settings = nullptr;
  const FieldDescriptor* embeddings = nullptr;
};

EmbeddingsSetting FindEmbeddings(const v1::RunConfig& config) {
  const Row* row = FindRow(config.strategy());
  if (row == nullptr) return {};
  const FieldDescriptor* settings = config.GetDescriptor()->FindFieldByName(row->name);
  return {settings, settings->message_type()->FindFieldByName("embeddings")};
}

// nullopt: it is not set, or the strategy has no such setting.
std::optional<bool> EmbeddingsOf(const v1::RunConfig& config) {
  const EmbeddingsSetting setting = FindEmbeddings(config);
  if (setting.embeddings == nullptr) return std::nullopt;
  const auto& settings = config.GetReflection()->GetMessage(config, setting.settings);
  const auto* reflection = settings.GetReflection();
  if (!reflection->HasField(settings, setting.embeddings)) return std::nullopt;
  return reflection->GetBool(settings, setting.embeddings);
}

}  // namespace

const std::vector<StrategyRole>& RolesOf(absl::string_view strategy) {
  const Row* row = FindRow(strategy);
  return row == nullptr ? FindRow(kDefaultStrategy)->roles : row->roles;
}

std::vector<StrategyRole> RolesOf(const v1::RunConfig& config) {
  std::vector<StrategyRole> roles = RolesOf(config.strategy());
  if (config.judge()) roles.push_back({kJudgeRole, false, 1});
  if (Embeds(config)) roles.push_back({kEmbeddingRole, false, 1});
  return roles;
}

bool WritesPrograms(absl::string_view strategy, absl::string_view role) {
  for (const StrategyRole& known : RolesOf(strategy)) {
    if (known.name == role) return known.writes_programs;
  }
  return false;
}

bool MayEmbed(const v1::RunConfig& config) {
  return FindEmbeddings(config).embeddings != nullptr && EmbeddingsOf(config).value_or(true);
}

bool Embeds(const v1::RunConfig& config) { return EmbeddingsOf(config).value_or(false); }

bool HasEmbeds(const v1::RunConfig& config) { return EmbeddingsOf(config).has_value(); }

std::string SetEmbeds(bool value, v1::RunConfig* config) {
  const EmbeddingsSetting setting = FindEmbeddings(*config);
  CHECK(setting.embeddings != nullptr);
  google::protobuf::Message* settings =
      config->GetReflection()->MutableMessage(config, setting.settings);
  settings->GetReflection()->SetBool(settings, setting.embeddings, value);
  return absl::StrCat(setting.settings->name(), ".", setting.embeddings->name());
}

std::vector<std::string> CompleteStrategySettings(const v1::RunConfig& request,
                                                  v1::RunConfig* config) {
  const Row* own = FindRow(config->strategy());
  if (own == nullptr) return {};
  SettingFaults faults;
  const google::protobuf::Descriptor* fields = config->GetDescriptor();
  const google::protobuf::Reflection* reflection = config->GetReflection();
  for (const Row& row : Rows()) {
    if (&row == own) continue;
    const google::protobuf::FieldDescriptor* field = fields->FindFieldByName(row.name);
    faults.Require(!reflection->HasField(request, field),
                   absl::StrCat(row.name, " has settings, but the run's strategy is ", own->name,
                                ": leave them out"));
    reflection->ClearField(config, field);  // the coordinator's defaults for another strategy
  }
  if (HasTree(*config)) {
    faults.Require(!request.has_evaluation(),
                   "evaluation has settings, but those of strategy world_model are fields of "
                   "world_model");
    config->clear_evaluation();
  } else {
    v1::EvaluationSettings* evaluation = config->mutable_evaluation();
    if (!evaluation->has_time_baseline_first()) evaluation->set_time_baseline_first(true);
    if (!evaluation->has_examine_new_bests()) evaluation->set_examine_new_bests(true);
  }
  own->complete(config, &faults);
  return faults.all();
}

void SetTimeBaselineFirst(bool value, v1::RunConfig* config) {
  if (HasTree(*config)) {
    config->mutable_world_model()->set_time_baseline_first(value);
  } else {
    config->mutable_evaluation()->set_time_baseline_first(value);
  }
}

bool HasTimeBaselineFirst(const v1::RunConfig& config) {
  return HasTree(config) ? config.world_model().has_time_baseline_first()
                         : config.evaluation().has_time_baseline_first();
}

absl::StatusOr<std::unique_ptr<SearchStrategy>> MakeStrategy(const SearchContext& context) {
  const std::string& wanted = context.config.strategy();
  if (const Row* row = FindRow(wanted); row != nullptr) return row->make(context);
  std::vector<std::string> names;
  for (const Row& row : Rows()) names.push_back(row.name);
  return absl::InvalidArgumentError(
      absl::StrCat("config.strategy: there is no strategy \"", wanted,
                   "\"; choose one of: ", absl::StrJoin(names, ", ")));
}

}  // namespace ksearch
