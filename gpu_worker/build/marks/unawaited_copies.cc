#include "gpu_worker/build/marks/unawaited_copies.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

namespace ksearch {
namespace {

// How a kind of copies is written.
struct Kind {
  std::vector<absl::string_view> begins_text;   // parts of string literals
  std::vector<absl::string_view> begins;        // names
  std::vector<absl::string_view> begins_in_ks;  // beginnings of names of ksearch_cuda.h
  std::vector<absl::string_view> awaits_text;
  std::vector<absl::string_view> awaits;  // parts of names
};

const std::vector<Kind>& Kinds() {
  static const auto* const kinds = new std::vector<Kind>{
      // Groups of bulk copies contain stores only.
      {{".bulk_group", "async.bulk.commit_group"},
       {"bulk_commit", "cp_async_bulk_commit_group"},
       {"bulk_store", "tma_store"},
       {"async.bulk.wait_group"},
       {"bulk_wait", "tma_store_wait"}},
      {{"cp.async.ca.", "cp.async.cg."},
       {"__pipeline_memcpy_async"},
       {"cp_async1", "cp_async_commit"},
       {"cp.async.wait_", "cp.async.mbarrier.arrive"},
       {"cp_async_wait", "cp_async_mbarrier_arrive", "pipeline_wait_prior", "pipeline_arrive_on",
        "consumer_wait"}},
  };
  return *kinds;
}

// The part of `word` that one of `parts` is; empty if none is there.
absl::string_view PartOf(absl::string_view word, const std::vector<absl::string_view>& parts) {
  for (const absl::string_view part : parts) {
    if (absl::StrContains(word, part)) return part;
  }
  return {};
}

bool IsInKs(const std::vector<CodeWord>& words, size_t at) {
  return at >= 3 && words[at - 1].word == ":" && words[at - 2].word == ":" &&
         words[at - 3].word == "ks";
}

// The word by which a copy of this kind begins here; empty if none does.
absl::string_view Begins(const Kind& kind, const std::vector<CodeWord>& words, size_t at) {
  const absl::string_view word = words[at].word;
  if (words[at].kind == CodeWord::Kind::kText) return PartOf(word, kind.begins_text);
  const auto starts = [&](absl::string_view start) { return absl::StartsWith(word, start); };
  const bool known = std::find(kind.begins.begin(), kind.begins.end(), word) != kind.begins.end() ||
                     (IsInKs(words, at) &&
                      std::any_of(kind.begins_in_ks.begin(), kind.begins_in_ks.end(), starts));
  return known ? word : absl::string_view();
}

}  // namespace

void UnawaitedCopies::Read(const std::string& path, const std::vector<CodeWord>& words) {
  begun_.resize(Kinds().size());
  for (size_t at = 0; at < words.size(); ++at) {
    if (words[at].kind == CodeWord::Kind::kOther) continue;
    for (size_t i = 0; i < Kinds().size(); ++i) {
      const Kind& kind = Kinds()[i];
      const bool text = words[at].kind == CodeWord::Kind::kText;
      if (!PartOf(words[at].word, text ? kind.awaits_text : kind.awaits).empty()) {
        awaited_.insert(i);
      } else if (!begun_[i].has_value()) {
        const absl::string_view word = Begins(kind, words, at);
        if (!word.empty()) begun_[i] = Copy{std::string(word), path, words[at].line};
      }
    }
  }
}

std::optional<UnawaitedCopies::Copy> UnawaitedCopies::First() const {
  for (size_t i = 0; i < begun_.size(); ++i) {
    if (begun_[i].has_value() && awaited_.count(i) == 0) return begun_[i];
  }
  return std::nullopt;
}

}  // namespace ksearch
