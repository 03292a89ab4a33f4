#include "coordinator/search/strategy_factory.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "coordinator/proposer/confirmation_text.h"
#include "coordinator/proposer/prompt.h"
#include "coordinator/proposer/reply_parser.h"
#include "coordinator/search/call_builder.h"
#include "coordinator/search/world_model_strategy.h"

namespace ksearch {
namespace {

constexpr char kDefaultStrategy[] = "world_model";

std::unique_ptr<SearchStrategy> MakeWorldModel(const SearchContext& context) {
  Proposer proposer;
  proposer.code_prompt = BuildCodePrompt;
  proposer.world_model_prompt = BuildWorldModelPrompt;
  proposer.parse_code = [](const std::string& reply, v1::Language language) {
    return ParseCodeReply(reply, language);
  };
  proposer.read_confirmation = ConfirmationFindings;
  EditReplyOptions options;
  options.clamp = context.config.world_model().preset() == v1::PRESET_PAPER;
  proposer.parse_edits = [options](const std::string& reply) {
    return ParseEditReply(reply, options);
  };
  return std::make_unique<WorldModelStrategy>(context, std::move(proposer));
}

struct Entry {
  const char* name;
  std::unique_ptr<SearchStrategy> (*make)(const SearchContext&);
};
constexpr Entry kStrategies[] = {
    {"world_model", MakeWorldModel},
};

}  // namespace

absl::StatusOr<std::unique_ptr<SearchStrategy>> MakeStrategy(const SearchContext& context) {
  const std::string& wanted = context.config.strategy();
  std::vector<std::string> names;
  for (const Entry& entry : kStrategies) {
    if (wanted == entry.name || (wanted.empty() && entry.name == std::string(kDefaultStrategy))) {
      return entry.make(context);
    }
    names.push_back(entry.name);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("config.strategy: there is no strategy \"", wanted,
                   "\"; choose one of: ", absl::StrJoin(names, ", ")));
}

}  // namespace ksearch
