// Files that people write for the programs: the first byte says for which, the rest is the file.
// Whatever is in it, the answer is a setting in which every number is in its range, or words.

#include <stdlib.h>
#include <sys/stat.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/access/token_file.h"
#include "common/log.h"
#include "common/textproto.h"
#include "coordinator/coordinator_config.h"
#include "coordinator/engine/run_settings.h"
#include "coordinator/ledger/price_book.h"
#include "coordinator/ledger/run_caps.h"
#include "gpu_worker/worker_config.h"

namespace {

// A folder with one file, removed when the process ends.
class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "fuzz_XXXXXX").string();
    CHECK(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }
  std::string Write(absl::string_view text) const {
    const std::string file = path_ + "/fuzz.textproto";
    std::ofstream(file, std::ios::binary).write(text.data(), static_cast<int64_t>(text.size()));
    CHECK(::chmod(file.c_str(), 0600) == 0);
    return file;
  }

 private:
  std::string path_;
};

// In words, at a place in the file or of a field.
void CheckFault(const absl::Status& status) {
  CHECK(absl::IsInvalidArgument(status));
  CHECK(!status.message().empty());
}

void FuzzCoordinator(const std::string& file) {
  ksearch::CommandLineActions actions;
  const auto config = ksearch::LoadCoordinatorConfig({"--config", file}, &actions);
  if (!config.ok()) return CheckFault(config.status());
  CHECK(!config->listen_address().empty() && config->max_connections() >= 0);
  CHECK(actions.backup.empty() && !actions.exit_when_waiting);
}

void FuzzWorker(const std::string& file) {
  const auto config = ksearch::LoadWorkerConfig({"--config", file});
  if (!config.ok()) return CheckFault(config.status());
  CHECK(config->run_as_uid() > 0 && config->run_as_gid() > 0);
  const int slots = ksearch::SlotsOf(*config, 1000, 64);
  CHECK(slots >= 1 && slots <= 1024);
  CHECK(config->state_dir()[0] == '/' && config->binary_dir()[0] == '/');
}

void FuzzRun(absl::string_view text) {
  ksearch::v1::RunConfig request;
  const absl::Status parsed = ksearch::ParseTextproto(text, "fuzz", &request);
  if (!parsed.ok()) {
    CHECK(absl::StartsWith(parsed.message(), "fuzz:"));
    return CheckFault(parsed);
  }
  if (request.task().empty()) request.set_task("t");
  if (request.provider().empty()) request.set_provider("p");
  const auto config = ksearch::CompleteRunConfig(request, {});
  if (!config.ok()) return CheckFault(config.status());
  CHECK(config->rounds() >= 1 && config->parallel() >= 1);
  CHECK(config->measure().confidence() >= 0.5 && config->measure().confidence() < 1);
  CHECK(config->world_model().too_hard_decay() >= 0 && config->world_model().too_hard_decay() <= 1);
  CHECK(config->ucb().exploration() >= 0 && config->ucb().epsilon() <= 1);
  for (const ksearch::v1::ModelUse& use : config->models()) CHECK(use.weight() >= 0);
  const auto caps = ksearch::ReadCaps(config->budget());
  CHECK(caps.ok());
  CHECK(caps->run.nano_usd.value_or(0) >= 0 && caps->run.tokens.value_or(0) >= 0);
  // Completed once, a configuration stays as it is.
  const auto again = ksearch::CompleteRunConfig(*config, {});
  CHECK(again.ok());
  CHECK(ksearch::ToTextproto(*again) == ksearch::ToTextproto(*config));
}

void FuzzPrices(const std::string& folder) {
  const auto book = ksearch::PriceBook::Load({folder}, {});
  if (!book.ok()) return CheckFault(book.status());
  const auto price = book->Find("p", "m", {}, absl::FromUnixSeconds(1'800'000'000));
  CHECK(price.ok());
  CHECK(price->rates().input() >= 0 && price->rates().output() >= 0);
}

void FuzzTokens(const std::string& file) {
  const auto tokens = ksearch::ReadTokenFile(file);
  if (!tokens.ok()) return CheckFault(tokens.status());
  for (const ksearch::v1::AccessToken& token : tokens->tokens()) {
    CHECK(!token.token_id().empty() && token.sha256().size() == 64);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Folder folder;
  if (size == 0) return 0;
  const absl::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 5) {
    case 0:
      FuzzCoordinator(folder.Write(text));
      break;
    case 1:
      FuzzWorker(folder.Write(text));
      break;
    case 2:
      FuzzRun(text);
      break;
    case 3:
      folder.Write(text);
      FuzzPrices(folder.path());
      break;
    case 4:
      FuzzTokens(folder.Write(text));
      break;
  }
  return 0;
}
