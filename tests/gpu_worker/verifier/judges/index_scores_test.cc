#include "gpu_worker/verifier/judges/index_scores.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "gmock/gmock.h"
#include "gpu_worker/verifier/tensors/element.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr double kNone = -std::numeric_limits<double>::infinity();

// Two rows of one head over three pages of two places; keys of width 1 are 1 to 6, in units of a
// scale of 0.5. Row 0 has pages 2 and 0, of which 3 places; row 1 has page 1.
IndexerCall Call() {
  IndexerCall call;
  call.rows = 2;
  call.heads = 1;
  call.width = 1;
  call.pages = 3;
  call.page_size = 2;
  call.pages_of_row = 2;
  call.queries = {2, -1};
  call.weights = {10, 1};
  call.lengths = {3, 2};
  call.table = {2, 0, 1, -1};
  call.keys.resize(3 * 2 * 5);
  for (int place = 0; place < 6; ++place) {
    std::byte* const page = call.keys.data() + place / 2 * 10;
    EncodeElement(v1::DTYPE_FLOAT8_E4M3FN, place + 1, page + place % 2);
    EncodeElement(v1::DTYPE_FLOAT32, 0.5, page + 2 + 4 * (place % 2));
  }
  return call;
}

TEST(IndexScoresTest, PlacesMustBeTheRowsOwnAndDifferent) {
  const IndexerCall call = Call();
  EXPECT_EQ(FaultOfPlaces(call, 0, {4, 5, 0, -1, -1}), "");
  EXPECT_EQ(FaultOfPlaces(call, 0, {}), "");
  EXPECT_THAT(FaultOfPlaces(call, 0, {4, 1}), HasSubstr("place 1 is none of row 0"));  // the fourth
  EXPECT_THAT(FaultOfPlaces(call, 0, {2}), HasSubstr("place 2 is none of row 0"));     // of page 1
  EXPECT_THAT(FaultOfPlaces(call, 0, {600}), HasSubstr("place 600"));
  EXPECT_THAT(FaultOfPlaces(call, 1, {3, 2, 3}), HasSubstr("place 3 comes twice in row 1"));
}

TEST(IndexScoresTest, ScoresAreWeightedSumsOverHeadsOfWhatIsPositive) {
  EXPECT_THAT(SortedScores(Call(), 0, {0, 5, -1, 4}), ElementsAre(60, 50, 10, kNone));
  EXPECT_THAT(SortedScores(Call(), 1, {2, 3}), ElementsAre(0, 0));
}

TEST(IndexScoresTest, ScoresDifferByBothBoundsOrWhereOnlyOneIsNone) {
  EXPECT_EQ(DifferentScores({60, 50, kNone}, {60, 50, kNone}, 0.01, 0.01), 0);
  EXPECT_EQ(DifferentScores({60.5, 50}, {60, 50}, 0.01, 0.01), 0);
  EXPECT_EQ(DifferentScores({0.005, 50}, {0, 50}, 0.01, 0.01), 0);
  EXPECT_EQ(DifferentScores({61, 50, kNone}, {60, 50, 10}, 0.01, 0.01), 2);
}

}  // namespace
}  // namespace ksearch
