#include "coordinator/llm/model_server/landscape/landscape.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/status_macros.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

constexpr int64_t kMaxBytes = int64_t{1} << 20;
constexpr size_t kMaxFaultsListed = 20;
constexpr int kMaxParameters = 32;
constexpr int kMaxValues = 64;
constexpr size_t kMaxNameBytes = 40;
constexpr double kLeastFactor = 1e-6;
constexpr double kMostFactor = 1e6;
constexpr int64_t kMostWork = 1'000'000'000;
constexpr int64_t kMostPoints = int64_t{1} << 20;

bool IsName(absl::string_view name, absl::string_view beside_alphanumeric,
            bool begins_with_letter) {
  if (name.empty() || name.size() > kMaxNameBytes) return false;
  if (begins_with_letter && !absl::ascii_isalpha(name[0])) return false;
  return std::all_of(name.begin(), name.end(), [&](char c) {
    return absl::ascii_isalnum(c) || beside_alphanumeric.find(c) != absl::string_view::npos;
  });
}

// Fills in defaults; every fault found goes to `faults`.
class Reader {
 public:
  Reader(v1::Landscape* spec, std::vector<std::string>* faults) : spec_(spec), faults_(faults) {}

  void Read() {
    if (spec_->model().empty()) spec_->set_model("landscape");
    if (spec_->task().empty()) Fault("task is missing");
    ReadProgram();
    if (spec_->parameters().empty()) Fault("parameters is empty");
    if (spec_->parameters_size() > kMaxParameters) {
      Fault(absl::StrCat("parameters has ", spec_->parameters_size(), " entries, at most ",
                         kMaxParameters, " are allowed"));
    }
    std::set<std::string> names;
    for (int i = 0; i < spec_->parameters_size(); ++i) {
      ReadParameter(absl::StrCat("parameters[", i, "]"), &names, spec_->mutable_parameters(i));
    }
    for (int i = 0; i < spec_->rules_size(); ++i) {
      const std::string field = absl::StrCat("rules[", i, "]");
      if (spec_->rules(i).when().empty()) Fault(absl::StrCat(field, ".when is empty"));
      ReadConditions(field, spec_->rules(i).when());
      ReadFactor(absl::StrCat(field, ".factor"), spec_->rules(i).factor());
    }
    for (int i = 0; i < spec_->failures_size(); ++i) {
      const std::string field = absl::StrCat("failures[", i, "]");
      const v1::LandscapeFailure& failure = spec_->failures(i);
      ReadConditions(field, failure.when());
      if (!(failure.probability() > 0 && failure.probability() <= 1)) {
        Fault(absl::StrCat(field, ".probability is ", failure.probability(),
                           ", must be above 0 and at most 1"));
      }
      if (failure.kind() == v1::LandscapeFailure::KIND_UNSPECIFIED ||
          !v1::LandscapeFailure::Kind_IsValid(failure.kind())) {
        Fault(absl::StrCat(field, ".kind must be COMPILE_ERROR, WRONG, CRASH, UNUSABLE or LIE"));
      }
    }
    ReadKnowledge(spec_->mutable_knowledge());
    ReadDelay("delay", spec_->delay());
    ReadDelay("delay_spread", spec_->delay_spread());
    Range("noise", spec_->noise(), 0, 1);
    Range("floor", spec_->floor(), 0, 1);
  }

 private:
  void Fault(std::string what) { faults_->push_back(std::move(what)); }

  void Range(absl::string_view field, double value, double low, double high) {
    if (value >= low && value <= high) return;  // false for NaN
    Fault(absl::StrCat(field, " is ", value, ", must be from ", low, " to ", high));
  }

  void ReadFactor(absl::string_view field, double factor) {
    Range(field, factor, kLeastFactor, kMostFactor);
  }

  void ReadDelay(absl::string_view field, const google::protobuf::Duration& delay) {
    const absl::Duration value = FromProto(delay);
    if (value < absl::ZeroDuration() || value > absl::Hours(1)) {
      Fault(absl::StrCat(field, " is ", absl::FormatDuration(value), ", must be from 0 to 1h"));
    }
  }

  void ReadProgram() {
    const v1::LandscapeProgram& program = spec_->program();
    if (!IsName(program.input(), "_", true)) Fault("program.input must be the name of an input");
    if (!IsName(program.output(), "_", true)) Fault("program.output must be the name of an output");
    // It becomes part of a program.
    if (program.elements().empty() || program.elements().size() > 200 ||
        !std::all_of(program.elements().begin(), program.elements().end(), [](char c) {
          return absl::ascii_isalnum(c) || absl::StrContains("_->*+(). ", absl::string_view(&c, 1));
        })) {
      Fault("program.elements must be a C++ expression of names, numbers, ->, *, + and ()");
    }
    Range("program.scale", program.scale(), 1e-3, 1e3);
    Range("program.start_work", static_cast<double>(program.start_work()), 1,
          static_cast<double>(kMostWork));
  }

  void ReadParameter(const std::string& field, std::set<std::string>* names,
                     v1::LandscapeParameter* parameter) {
    if (!IsName(parameter->name(), "_", true)) {
      Fault(absl::StrCat(field, ".name is \"", absl::CEscape(parameter->name()),
                         "\", must be 1 to 40 of letters, digits and '_', a letter first"));
    } else if (!names->insert(parameter->name()).second) {
      Fault(absl::StrCat(field, ".name \"", parameter->name(), "\" is given twice"));
    }
    if (parameter->meaning().empty()) parameter->set_meaning(parameter->name());
    if (parameter->meaning().size() > 200) Fault(absl::StrCat(field, ".meaning is too long"));
    if (parameter->values_size() < 2 || parameter->values_size() > kMaxValues) {
      Fault(absl::StrCat(field, ".values has ", parameter->values_size(),
                         " entries, must have 2 to ", kMaxValues));
    }
    std::set<std::string> values;
    for (int i = 0; i < parameter->values_size(); ++i) {
      v1::LandscapeValue* value = parameter->mutable_values(i);
      const std::string at = absl::StrCat(field, ".values[", i, "]");
      if (!IsName(value->name(), "_.-", false)) {
        Fault(absl::StrCat(at, ".name is \"", absl::CEscape(value->name()),
                           "\", must be 1 to 40 of letters, digits, '_', '.' and '-'"));
      } else if (!values.insert(value->name()).second) {
        Fault(absl::StrCat(at, ".name \"", value->name(), "\" is given twice"));
      }
      if (value->factor() == 0) value->set_factor(1);
      ReadFactor(absl::StrCat(at, ".factor"), value->factor());
    }
    if (!v1::IntentKind_IsValid(parameter->intent())) {
      Fault(absl::StrCat(field, ".intent is ", parameter->intent(), ", which is none"));
    }
    if (!v1::Bottleneck_IsValid(parameter->bottleneck())) {
      Fault(absl::StrCat(field, ".bottleneck is ", parameter->bottleneck(), ", which is none"));
    }
    if (parameter->start().empty() && parameter->values_size() > 0) {
      parameter->set_start(parameter->values(0).name());
    }
    if (values.count(parameter->start()) == 0) {
      Fault(absl::StrCat(field, ".start is \"", absl::CEscape(parameter->start()),
                         "\", which is not among its values"));
    }
  }

  void ReadConditions(const std::string& field,
                      const google::protobuf::RepeatedPtrField<v1::LandscapeCondition>& when) {
    for (int i = 0; i < when.size(); ++i) {
      const std::string at = absl::StrCat(field, ".when[", i, "]");
      const auto parameter = std::find_if(
          spec_->parameters().begin(), spec_->parameters().end(),
          [&](const v1::LandscapeParameter& each) { return each.name() == when[i].parameter(); });
      if (parameter == spec_->parameters().end()) {
        Fault(absl::StrCat(at, ".parameter is \"", absl::CEscape(when[i].parameter()),
                           "\", which is not among parameters"));
        continue;
      }
      if (when[i].values().empty()) Fault(absl::StrCat(at, ".values is empty"));
      for (const std::string& value : when[i].values()) {
        if (std::none_of(parameter->values().begin(), parameter->values().end(),
                         [&](const v1::LandscapeValue& each) { return each.name() == value; })) {
          Fault(absl::StrCat(at, ".values: parameter ", parameter->name(), " has no value \"",
                             absl::CEscape(value), "\""));
        }
      }
    }
  }

  void ReadKnowledge(v1::LandscapeKnowledge* knowledge) {
    if (knowledge->wrongness() == 0) knowledge->set_wrongness(0.5);
    if (!knowledge->has_insight()) knowledge->set_insight(0.3);
    if (!knowledge->has_focus()) knowledge->set_focus(1);
    if (!knowledge->has_changes()) knowledge->set_changes(1.3);
    if (!knowledge->has_first_changes()) knowledge->set_first_changes(3);
    if (!knowledge->has_repairs()) knowledge->set_repairs(0.8);
    if (!knowledge->has_borrows()) knowledge->set_borrows(0.3);
    if (!knowledge->has_judge_skill()) knowledge->set_judge_skill(knowledge->skill());
    if (!knowledge->has_heeds_memory()) knowledge->set_heeds_memory(0.7);
    Range("knowledge.skill", knowledge->skill(), 0, 1);
    Range("knowledge.wrongness", knowledge->wrongness(), 0, 10);
    Range("knowledge.insight", knowledge->insight(), 0, 1);
    Range("knowledge.focus", knowledge->focus(), 0, 100);
    Range("knowledge.changes", knowledge->changes(), 1, 10);
    Range("knowledge.first_changes", knowledge->first_changes(), 1, 10);
    Range("knowledge.paired_plans", knowledge->paired_plans(), 0, 1);
    Range("knowledge.repairs", knowledge->repairs(), 0, 1);
    Range("knowledge.borrows", knowledge->borrows(), 0, 1);
    Range("knowledge.judge_skill", knowledge->judge_skill(), 0, 1);
    Range("knowledge.heeds_memory", knowledge->heeds_memory(), 0, 1);
  }

  v1::Landscape* const spec_;
  std::vector<std::string>* const faults_;
};

}  // namespace

absl::StatusOr<Landscape> Landscape::Load(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaxBytes));
  return Parse(text, path);
}

absl::StatusOr<Landscape> Landscape::Parse(absl::string_view text, absl::string_view name) {
  Landscape landscape;
  RETURN_IF_ERROR(ParseTextproto(text, name, &landscape.spec_));
  std::vector<std::string> faults;
  Reader(&landscape.spec_, &faults).Read();
  if (!faults.empty()) {
    const size_t more = faults.size() > kMaxFaultsListed ? faults.size() - kMaxFaultsListed : 0;
    faults.resize(faults.size() - more);
    for (std::string& fault : faults) fault = absl::StrCat(name, ": ", fault);
    if (more > 0) faults.push_back(absl::StrCat("and ", more, " more"));
    return absl::InvalidArgumentError(absl::StrJoin(faults, "\n"));
  }
  for (int i = 0; i < landscape.parameters(); ++i) {
    landscape.start_.push_back(*landscape.FindValue(i, landscape.spec_.parameters(i).start()));
  }
  landscape.start_cost_ = landscape.RawCost(landscape.start_);
  const std::optional<double> least =
      landscape.spec_.floor() > 0 ? landscape.LeastCost() : std::nullopt;
  if (least.has_value() && landscape.spec_.floor() > *least) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": floor is ", landscape.spec_.floor(),
                                                   ", but a program is at ", *least));
  }
  return landscape;
}

std::optional<int> Landscape::FindParameter(absl::string_view name) const {
  for (int i = 0; i < parameters(); ++i) {
    if (spec_.parameters(i).name() == name) return i;
  }
  return std::nullopt;
}

std::optional<int> Landscape::FindValue(int parameter, absl::string_view name) const {
  for (int i = 0; i < values(parameter); ++i) {
    if (spec_.parameters(parameter).values(i).name() == name) return i;
  }
  return std::nullopt;
}

bool Landscape::Meets(const google::protobuf::RepeatedPtrField<v1::LandscapeCondition>& conditions,
                      const LandscapePoint& point) const {
  return std::all_of(conditions.begin(), conditions.end(), [&](const v1::LandscapeCondition& each) {
    const int parameter = *FindParameter(each.parameter());
    const std::string& value = spec_.parameters(parameter).values(point[parameter]).name();
    return std::find(each.values().begin(), each.values().end(), value) != each.values().end();
  });
}

double Landscape::RawCost(const LandscapePoint& point) const {
  double cost = 1;
  for (int i = 0; i < parameters(); ++i) cost *= spec_.parameters(i).values(point[i]).factor();
  for (const v1::LandscapeRule& rule : spec_.rules()) {
    if (Meets(rule.when(), point)) cost *= rule.factor();
  }
  return cost;
}

double Landscape::Cost(const LandscapePoint& point) const { return RawCost(point) / start_cost_; }

int64_t Landscape::Work(const LandscapePoint& point) const {
  const double steps = static_cast<double>(spec_.program().start_work()) * Cost(point);
  return static_cast<int64_t>(std::clamp(steps, 1.0, 100.0 * static_cast<double>(kMostWork)));
}

std::optional<double> Landscape::LeastCost() const {
  int64_t points = 1;
  for (int i = 0; i < parameters(); ++i) {
    points *= values(i);
    if (points > kMostPoints) return std::nullopt;
  }
  LandscapePoint point(start_.size(), 0);
  double least = Cost(point);
  for (int64_t n = 1; n < points; ++n) {
    for (int i = 0; ++point[i] == values(i); ++i) point[i] = 0;
    least = std::min(least, Cost(point));
  }
  return least;
}

std::string Landscape::Write(const LandscapePoint& point) const {
  std::vector<std::string> words;
  for (int i = 0; i < parameters(); ++i) {
    const v1::LandscapeParameter& parameter = spec_.parameters(i);
    words.push_back(absl::StrCat(parameter.name(), "=", parameter.values(point[i]).name()));
  }
  return absl::StrJoin(words, " ");
}

std::optional<LandscapePoint> Landscape::Read(absl::string_view text) const {
  LandscapePoint point(start_.size(), -1);
  for (absl::string_view word : absl::StrSplit(text, ' ', absl::SkipWhitespace())) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(word, absl::MaxSplits('=', 1));
    const std::optional<int> parameter = FindParameter(parts.first);
    if (!parameter.has_value() || point[*parameter] >= 0) return std::nullopt;
    const std::optional<int> value = FindValue(*parameter, parts.second);
    if (!value.has_value()) return std::nullopt;
    point[*parameter] = *value;
  }
  if (std::count(point.begin(), point.end(), -1) > 0) return std::nullopt;
  return point;
}

}  // namespace ksearch
