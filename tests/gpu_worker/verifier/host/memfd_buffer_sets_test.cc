#include "gpu_worker/verifier/host/memfd_buffer_sets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "gpu_worker/verifier/tensors/poison.h"
#include "tests/gpu_worker/verifier/matmul_task.h"
#include "tests/gpu_worker/verifier/numbered_inputs.h"

namespace ksearch {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

// Sees the buffers as a runner would: through the descriptors.
class Mapping {
 public:
  Mapping(const MapPacket& packet, int buffer)
      : memory_(packet.request.buffers(buffer).memory()),
        bytes_(static_cast<size_t>(packet.request.memory_bytes(memory_))),
        base_(static_cast<char*>(::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED,
                                        packet.fds[static_cast<size_t>(memory_)], 0))),
        tensor_(base_ + packet.request.buffers(buffer).offset()) {}
  ~Mapping() { ::munmap(base_, bytes_); }
  char* tensor() const { return tensor_; }
  float* floats() const { return reinterpret_cast<float*>(tensor_); }

 private:
  int memory_;
  size_t bytes_;
  char* base_;
  char* tensor_;
};

class MemfdBufferSetsTest : public ::testing::Test {
 protected:
  MemfdBufferSetsTest() {
    const v1::Task task = MatmulTask();
    workload_ = *WorkloadCase::Create(task, task.workloads(0), "sha", Seed{5, 6});
    buffers_ = *MemfdBufferSets::Create(workload_, 3);
  }
  CallFindings Findings(int set, uint64_t salt) { return buffers_->Collect({{set, 0}}, salt)[0]; }

  std::shared_ptr<const WorkloadCase> workload_;
  std::shared_ptr<BufferSets> buffers_;
};

TEST_F(MemfdBufferSetsTest, MapNamesEverySlot) {
  const std::vector<MapPacket> packets = buffers_->Map(2);
  ASSERT_EQ(packets.size(), 1u);
  const v1::MapRequest& request = packets[0].request;
  EXPECT_FALSE(request.append());
  EXPECT_EQ(request.sets(), 2);
  EXPECT_EQ(request.slots_size(), 6);  // m n k a b c
  ASSERT_EQ(request.buffers_size(), 6);
  EXPECT_EQ(packets[0].fds.size(), 7u);
  EXPECT_EQ(request.buffers(2).slot(), 5);
  EXPECT_EQ(request.buffers(5).set(), 1);
  EXPECT_TRUE(request.turns());
  EXPECT_EQ(request.memory_bytes(6), CallTurns::kBytes);
}

TEST_F(MemfdBufferSetsTest, ANewRunnerFindsNothingInThePageOfTurns) {
  ASSERT_NE(buffers_->turns(), nullptr);
  (void)buffers_->Map(2);
  buffers_->turns()->returned = 77;
  char* const page = reinterpret_cast<char*>(buffers_->turns());
  page[CallTurns::kBytes - 1] = 1;
  (void)buffers_->Map(2);
  EXPECT_TRUE(std::all_of(page, page + CallTurns::kBytes, [](char c) { return c == 0; }));
}

TEST_F(MemfdBufferSetsTest, AnotherCallsInputsStandInForAllThatAreWithheld) {
  (void)buffers_->Map(2);
  buffers_->Prepare({{0, 7}, {1, 8}}, 3);
  const std::unique_ptr<LateInputs> late = buffers_->WithholdAll({1, 8}, {0, 7});
  ASSERT_NE(late, nullptr);
  EXPECT_EQ(buffers_->ChangedInput({1, 7}), std::nullopt);
  late->Deliver();
  EXPECT_EQ(buffers_->ChangedInput({1, 8}), std::nullopt);
  EXPECT_EQ(buffers_->ChangedInput({0, 7}), std::nullopt);
  EXPECT_EQ(Findings(1, 3).broken_guard, "");
}

TEST_F(MemfdBufferSetsTest, RememberedPlacesShowWhatIsWrittenLater) {
  const std::vector<MapPacket> packets = buffers_->Map(2);
  EXPECT_TRUE(packets[0].files);
  const std::vector<FilledSet> calls = {{0, 1}, {1, 2}};
  Rng rng(3);
  buffers_->Prepare(calls, 11);
  EXPECT_EQ(buffers_->ChangedSinceRemembered(), std::nullopt);
  buffers_->RememberPlaces(calls, &rng);
  EXPECT_EQ(buffers_->ChangedSinceRemembered(), std::nullopt);
  // A tenth of the output of one call, by the runner.
  const Mapping late(packets[0], 5);
  const auto bytes = static_cast<size_t>(packets[0].request.buffers(5).tensor_bytes());
  std::memset(late.tensor() + bytes / 2, 1, bytes / 10);
  EXPECT_THAT(buffers_->ChangedSinceRemembered(), Optional(HasSubstr("c")));
  // A write before the places of its call are remembered is not a change. Inputs are not checked.
  buffers_->Prepare(calls, 12);
  std::memset(late.tensor() + bytes / 2, 1, bytes / 10);
  buffers_->RememberPlaces({calls[0]}, &rng);
  buffers_->RememberPlaces({calls[1]}, &rng);
  const Mapping input(packets[0], 0);
  input.floats()[0] += 1;
  EXPECT_EQ(buffers_->ChangedSinceRemembered(), std::nullopt);
  // Those of the first call are still remembered.
  const Mapping first(packets[0], 2);
  std::memset(first.tensor() + bytes / 2, 1, bytes / 10);
  EXPECT_THAT(buffers_->ChangedSinceRemembered(), Optional(HasSubstr("c")));
}

TEST_F(MemfdBufferSetsTest, ManySetsTakeSeveralPackets) {
  const auto many = *MemfdBufferSets::Create(workload_, 64);
  const std::vector<MapPacket> packets = many->Map(64);
  size_t fds = 0;
  for (size_t i = 0; i < packets.size(); ++i) {
    EXPECT_EQ(packets[i].request.append(), i > 0);
    EXPECT_LE(packets[i].fds.size(), 250u);
    fds += packets[i].fds.size();
  }
  EXPECT_EQ(fds, 3u * 64u + 1);
}

TEST_F(MemfdBufferSetsTest, InputsThatComeLateAreCompleteInTheEnd) {
  Rng rng(7);
  int changed_a = 0, changed_b = 0;
  for (int64_t variant = 100; variant < 140; ++variant) {
    const std::vector<MapPacket> packets = buffers_->Map(2);
    buffers_->Prepare({{1, variant}}, 3);
    const Mapping a(packets[0], 3), b(packets[0], 4);
    const std::vector<char> before_a(a.tensor(), a.tensor() + 32 * 40 * 4),
        before_b(b.tensor(), b.tensor() + 40 * 24 * 4);
    const std::unique_ptr<LateInputs> late = buffers_->Withhold({1, variant}, &rng);
    ASSERT_NE(late, nullptr);
    const bool differs_a = std::memcmp(a.tensor(), before_a.data(), before_a.size()) != 0;
    const bool differs_b = std::memcmp(b.tensor(), before_b.data(), before_b.size()) != 0;
    EXPECT_TRUE(differs_a || differs_b);
    changed_a += differs_a;
    changed_b += differs_b;
    // Nothing that an input could not hold.
    EXPECT_TRUE(std::all_of(a.floats(), a.floats() + 32 * 40,
                            [](float value) { return std::abs(value) < 10; }));
    EXPECT_TRUE(buffers_->ChangedInput({1, variant}).has_value());
    EXPECT_TRUE(buffers_->IsPending(1, 3));
    late->Deliver();
    EXPECT_EQ(buffers_->ChangedInput({1, variant}), std::nullopt);
    EXPECT_EQ(Findings(1, 3).broken_guard, "");
  }
  EXPECT_GT(changed_a, 10);
  EXPECT_GT(changed_b, 10);
}

// Half of one variant and half of another could be what the program never makes.
TEST(MemfdBufferSetsOfMadeInputsTest, AWholeVariantStandsInForInputsThatComeLate) {
  v1::Task task = MatmulTask();
  for (v1::InputRecipe& input : *task.mutable_workloads(0)->mutable_inputs()) input.mutable_made();
  NumberedInputs numbered;
  const auto workload =
      *WorkloadCase::Create(task, task.workloads(0), "sha", Seed{5, 6}, &numbered);
  const std::shared_ptr<BufferSets> buffers = *MemfdBufferSets::Create(workload, 2);
  const std::vector<MapPacket> packets = buffers->Map(2);
  buffers->Prepare({{1, 100}}, 3);
  const Mapping a(packets[0], 3), b(packets[0], 4);
  EXPECT_EQ(a.floats()[0], 100);
  Rng rng(7);
  const std::unique_ptr<LateInputs> late = buffers->Withhold({1, 100}, &rng);
  ASSERT_NE(late, nullptr);
  const float other = a.floats()[0];
  EXPECT_GT(other, 1e9f);
  EXPECT_TRUE(std::all_of(a.floats(), a.floats() + 32 * 40,
                          [other](float value) { return value == other; }));
  EXPECT_TRUE(std::all_of(b.floats(), b.floats() + 40 * 24,
                          [other](float value) { return value == other; }));
  late->Deliver();
  EXPECT_EQ(buffers->ChangedInput({1, 100}), std::nullopt);
  EXPECT_EQ(b.floats()[0], 100);
}

TEST_F(MemfdBufferSetsTest, ACallIsPendingUntilItsOutputsAreComplete) {
  const std::vector<MapPacket> packets = buffers_->Map(1);
  buffers_->Prepare({{0, 5}}, 3);
  const Mapping c(packets[0], 2);
  std::fill_n(c.floats(), 32 * 24 - 1, 1.0f);
  EXPECT_TRUE(buffers_->IsPending(0, 3));
  c.floats()[32 * 24 - 1] = 1;
  EXPECT_FALSE(buffers_->IsPending(0, 3));
}

TEST_F(MemfdBufferSetsTest, NobodyFindsAnswersOfOthers) {
  const std::vector<MapPacket> packets = buffers_->Map(2);
  const Mapping first(packets[0], 2), second(packets[0], 5);  // the outputs
  buffers_->Prepare({{0, 7}, {1, 8}}, 1);
  first.floats()[0] = second.floats()[0] = 42;
  buffers_->Wipe({{1, 8}});
  EXPECT_EQ(first.floats()[0], 42);
  EXPECT_NE(second.floats()[0], 42);
  buffers_->Map(2);  // for the next runner
  EXPECT_NE(first.floats()[0], 42);
}

TEST_F(MemfdBufferSetsTest, NobodyFindsInputsOfOthers) {
  const std::vector<MapPacket> packets = buffers_->Map(2);
  const Mapping a(packets[0], 0), b(packets[0], 4);  // of the first and of the second set
  buffers_->Prepare({{0, 7}}, 1);
  const float given = a.floats()[0];
  b.floats()[0] = 42;  // a message to the next program, in a set without a call
  EXPECT_EQ(buffers_->ChangedInput({0, 7}), std::nullopt);
  buffers_->Map(2);
  EXPECT_NE(a.floats()[0], given);
  EXPECT_NE(b.floats()[0], 42);
}

TEST_F(MemfdBufferSetsTest, PreparedSetsAreIntactAndUnwritten) {
  buffers_->Map(3);
  buffers_->Prepare({{1, 8}, {2, 9}}, 99);
  EXPECT_EQ(Findings(1, 99).broken_guard, "");
  EXPECT_EQ(buffers_->ChangedInput({1, 8}), std::nullopt);
  EXPECT_EQ(buffers_->ChangedInput({2, 9}), std::nullopt);
  EXPECT_THAT(buffers_->ChangedInput({1, 9}), Optional(std::string("a")));
  EXPECT_EQ(Findings(1, 99).unwritten, "c");
  EXPECT_EQ(Findings(1, 98).unwritten, "");  // poison changes with the salt
}

TEST_F(MemfdBufferSetsTest, OneUnwrittenElementShows) {
  const std::vector<MapPacket> packets = buffers_->Map(3);
  buffers_->Prepare({{0, 0}, {1, 1}}, 7);
  const Mapping c(packets[0], 2);
  for (int i = 0; i < 32 * 24; ++i) {
    if (i != 500) c.floats()[i] = 1.5f;
  }
  const std::vector<CallFindings> findings = buffers_->Collect({{1, 1}, {0, 0}}, 7);
  EXPECT_EQ(findings[0].unwritten, "c");
  EXPECT_EQ(findings[1].unwritten, "c");
  EXPECT_NE(findings[0].fingerprint, findings[1].fingerprint);
  c.floats()[500] = 1.5f;
  EXPECT_EQ(Findings(0, 7).unwritten, "");
}

TEST_F(MemfdBufferSetsTest, OneWrittenByteOfACallThatWasNotMadeShows) {
  const std::vector<MapPacket> packets = buffers_->Map(3);
  buffers_->Prepare({{0, 0}, {1, 1}, {2, 2}}, 7);
  const std::vector<FilledSet> decoys = {{1, 1}, {2, 2}};
  EXPECT_EQ(buffers_->FirstWritten(decoys, 7), std::nullopt);
  const Mapping made(packets[0], 2), decoy(packets[0], 8);  // the outputs of sets 0 and 2
  made.floats()[0] = 1;
  EXPECT_EQ(buffers_->FirstWritten(decoys, 7), std::nullopt);
  decoy.tensor()[32 * 24 * 4 - 1] ^= 1;
  EXPECT_THAT(buffers_->FirstWritten(decoys, 7), Optional(std::string("c")));
  EXPECT_EQ(buffers_->FirstWritten({{1, 1}}, 7), std::nullopt);
}

TEST_F(MemfdBufferSetsTest, OutputsAreComparedWithSavedOnes) {
  const std::vector<MapPacket> packets = buffers_->Map(1);
  const Mapping c(packets[0], 2);
  for (int i = 0; i < 32 * 24; ++i) c.floats()[i] = 1.5f;
  const std::shared_ptr<const SavedOutputs> saved = *buffers_->Save(0);
  EXPECT_EQ(saved->bytes(), 32 * 24 * 4);
  c.floats()[32 * 24 - 1] = 400.0f;
  EXPECT_EQ(saved->CompareWith(*workload_, *saved)[0].wrong, 0);
  const TensorComparison compared = buffers_->Compare(0, *saved)[0];
  EXPECT_EQ(compared.wrong, 1);
  EXPECT_EQ(compared.first_wrong, 32 * 24 - 1);
  EXPECT_EQ(compared.first_got, 400.0);
  EXPECT_EQ(compared.first_expected, 1.5);
  EXPECT_EQ(compared.max_abs, 398.5);
}

TEST_F(MemfdBufferSetsTest, WritesOutsideATensorShow) {
  const std::vector<MapPacket> packets = buffers_->Map(3);
  const Mapping b(packets[0], 1);
  b.tensor()[-1] ^= 1;
  EXPECT_THAT(Findings(0, 1).broken_guard, HasSubstr("wrote 1 bytes before 'b'"));
  EXPECT_EQ(Findings(1, 1).broken_guard, "");
  b.tensor()[-1] ^= 1;
  b.tensor()[40 * 24 * 4] ^= 1;
  EXPECT_THAT(Findings(0, 1).broken_guard, HasSubstr("past the end of 'b'"));
  buffers_->Map(3);  // the next runner starts with whole guards
  EXPECT_EQ(Findings(0, 1).broken_guard, "");
}

TEST_F(MemfdBufferSetsTest, ARunnerCannotTakeTheMemoryAway) {
  const std::vector<MapPacket> packets = buffers_->Map(1);
  EXPECT_NE(::ftruncate(packets[0].fds[0], 0), 0);
}

TEST(PoisonTest, FloatPoisonIsNan) {
  for (uint64_t salt = 0; salt < 100; ++salt) {
    const uint64_t word = PoisonWord(v1::DTYPE_FLOAT32, salt);
    float value;
    std::memcpy(&value, &word, sizeof value);
    EXPECT_NE(value, value);
  }
  EXPECT_NE(PoisonWord(v1::DTYPE_FLOAT32, 1), PoisonWord(v1::DTYPE_FLOAT32, 2));
}

TEST(PoisonTest, AllOfItIsLookedAt) {
  const uint64_t word = PoisonWord(v1::DTYPE_INT8, 3);
  for (const int64_t bytes : {int64_t{0}, int64_t{3}, int64_t{8}, int64_t{13}, int64_t{4099}}) {
    std::vector<std::byte> memory(static_cast<size_t>(bytes) + 1);
    FillPoison(word, memory.data(), bytes);
    EXPECT_TRUE(IsAllPoison(word, memory.data(), bytes)) << bytes;
    for (const int64_t at : {int64_t{0}, bytes / 2, bytes - 1}) {
      if (bytes == 0) continue;
      memory[static_cast<size_t>(at)] ^= std::byte{1};
      EXPECT_FALSE(IsAllPoison(word, memory.data(), bytes)) << bytes << " at " << at;
      memory[static_cast<size_t>(at)] ^= std::byte{1};
    }
  }
}

TEST(PoisonTest, IntegersAreUnwrittenOnlyAsAWhole) {
  const uint64_t word = PoisonWord(v1::DTYPE_INT32, 3);
  std::vector<std::byte> memory(40);
  FillPoison(word, memory.data(), 40);
  EXPECT_TRUE(ShowsPoison(v1::DTYPE_INT32, word, memory.data(), 40));
  memory[9] ^= std::byte{1};
  EXPECT_FALSE(ShowsPoison(v1::DTYPE_INT32, word, memory.data(), 40));
  EXPECT_FALSE(ShowsPoison(v1::DTYPE_INT8, word, memory.data(), 4));  // too short to tell
}

}  // namespace
}  // namespace ksearch
