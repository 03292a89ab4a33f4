#include "gpu_worker/verifier/judges/index_judge.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/status_macros.h"
#include "gpu_worker/verifier/judges/index_scores.h"
#include "gpu_worker/verifier/judges/named_inputs.h"

namespace ksearch {
namespace {

OutputComparison Wrong(std::string message) {
  OutputComparison verdict;
  verdict.right = false;
  verdict.message = std::move(message);
  return verdict;
}

// The bytes of a key's scale.
constexpr int64_t kScaleBytes = 4;

absl::StatusOr<IndexerCall> ReadCall(const WorkloadCase& workload, int64_t variant) {
  int places[5];
  int found = 0;
  for (const char* name :
       {"q_index_fp8", "k_index_cache_fp8", "weights", "seq_lens", "block_table"}) {
    places[found] = FindInput(workload, name);
    if (places[found++] < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("a top-k indexer needs the input tensor '", name, "'"));
    }
  }
  const v1::TensorView& queries = ViewOf(workload, places[0]);
  const v1::TensorView& keys = ViewOf(workload, places[1]);
  const v1::TensorView& table = ViewOf(workload, places[4]);
  const v1::TensorView& output = ViewOf(workload, workload.inputs());
  if (queries.shape_size() != 3 || keys.shape_size() != 4 || table.shape_size() != 2 ||
      output.shape_size() != 2 || keys.shape(2) != 1 ||
      keys.shape(3) != queries.shape(2) + kScaleBytes || table.shape(0) != queries.shape(0) ||
      output.shape(0) != queries.shape(0) || keys.dtype() != v1::DTYPE_INT8) {
    return absl::InvalidArgumentError(
        "a top-k indexer needs queries (rows, heads, width), bytes of keys (pages, page size, 1, "
        "width + 4), a table (rows, pages) and places (rows, k)");
  }
  IndexerCall call;
  call.rows = queries.shape(0);
  call.heads = queries.shape(1);
  call.width = queries.shape(2);
  call.pages = keys.shape(0);
  call.page_size = keys.shape(1);
  call.pages_of_row = table.shape(1);
  call.queries = NumbersOf(workload, places[0], variant);
  call.keys = BytesOf(workload, places[1], variant);
  call.weights = NumbersOf(workload, places[2], variant);
  call.lengths = NumbersOf(workload, places[3], variant);
  call.table = NumbersOf(workload, places[4], variant);
  if (static_cast<int64_t>(call.weights.size()) != call.rows * call.heads ||
      static_cast<int64_t>(call.lengths.size()) != call.rows) {
    return absl::InvalidArgumentError(
        "a top-k indexer needs weights (rows, heads) and lengths (rows)");
  }
  return call;
}

}  // namespace

OutputComparison IndexJudge::Judge(const WorkloadCase& workload, int64_t variant,
                                   const SavedOutputs& outputs, const SavedOutputs& expected) {
  const auto call = ReadCall(workload, variant);
  if (!call.ok()) return Wrong(std::string(call.status().message()));
  const auto places = WholeNumbersIn(workload, outputs);
  const auto right_places = WholeNumbersIn(workload, expected);
  if (!places.ok()) return Wrong(std::string(places.status().message()));
  if (!right_places.ok()) return Wrong(std::string(right_places.status().message()));
  const size_t k = call->rows == 0 ? 0 : places->size() / static_cast<size_t>(call->rows);
  const v1::SuiteRule& rule = workload.suite_rule();
  int64_t different = 0;
  for (int64_t row = 0; row < call->rows; ++row) {
    const auto of_row = [&](const std::vector<int64_t>& all) {
      return absl::MakeConstSpan(all).subspan(static_cast<size_t>(row) * k, k);
    };
    const std::string fault = FaultOfPlaces(*call, row, of_row(*places));
    if (!fault.empty()) return Wrong(fault);
    different +=
        DifferentScores(SortedScores(*call, row, of_row(*places)),
                        SortedScores(*call, row, of_row(*right_places)), rule.atol(), rule.rtol());
  }
  OutputComparison verdict;
  if (!places->empty()) {
    verdict.correctness.set_matched_ratio(1 - static_cast<double>(different) /
                                                  static_cast<double>(places->size()));
  }
  if (different == 0) return verdict;
  verdict.right = false;
  verdict.message = absl::StrFormat(
      "%d of %d sorted scores are not those of the reference's places (atol %g, rtol %g)",
      different, places->size(), rule.atol(), rule.rtol());
  return verdict;
}

}  // namespace ksearch
