#include "coordinator/packet/evaluation_packet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/rng.h"
#include "coordinator/packet/packet_format.h"
#include "google/protobuf/message.h"

namespace ksearch {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string PacketOf(const v1::JobResult& result, const v1::JobResult* parent = nullptr,
                     const v1::Task* task = nullptr) {
  return EvaluationPacket({&result, parent, task});
}

v1::KernelProfile* AddDecode(v1::JobResult* result) {
  result->mutable_profile()->set_workload_uuid("w1");
  result->mutable_profile()->set_tool("ncu 2025.3.1");
  result->mutable_profile()->set_calls(1);
  v1::KernelProfile* kernel = result->mutable_profile()->add_kernels();
  kernel->set_name("decode<128>");
  kernel->set_launches(1);
  kernel->set_share(0.9);
  kernel->set_duration_us(27);
  kernel->mutable_grid()->set_x(64);
  kernel->mutable_grid()->set_y(8);
  kernel->mutable_grid()->set_z(1);
  kernel->mutable_block()->set_x(256);
  kernel->set_registers(168);
  kernel->set_static_shared_bytes(1024);
  kernel->set_dynamic_shared_bytes(65536);
  kernel->set_blocks_per_sm(1);
  kernel->add_block_limits(v1::KernelProfile::REGISTERS);
  kernel->add_block_limits(v1::KernelProfile::SHARED_MEMORY);
  kernel->set_waves(3.88);
  kernel->set_achieved_occupancy_percent(12.4);
  kernel->set_theoretical_occupancy_percent(12.5);
  kernel->set_sm_percent(22);
  kernel->set_memory_percent(41);
  kernel->set_dram_percent(41);
  kernel->set_tensor_percent(3);
  for (const char* reason : {"long_scoreboard", "barrier", "wait", "math_pipe_throttle"}) {
    auto* stall = kernel->add_stalls();
    stall->set_reason(reason);
    stall->set_share(0.5 / (1 + kernel->stalls_size()));
  }
  kernel->set_dram_read_bytes(50e6);
  kernel->set_dram_written_bytes(1e6);
  kernel->set_dram_bytes_per_second(1.9e12);
  kernel->set_load_bytes_per_sector(8);
  kernel->set_store_bytes_per_sector(32);
  return kernel;
}

v1::JobResult Screened() {
  v1::JobResult result;
  result.set_outcome(v1::OUTCOME_PASSED);
  result.mutable_device()->set_name("NVIDIA H200");
  result.mutable_build()->set_architecture("sm_90a");
  v1::KernelFacts* facts = result.mutable_build()->add_kernels();
  facts->set_name("decode<128>");
  facts->set_registers(168);
  facts->set_spill_store_bytes(8);
  facts->set_spill_load_bytes(12);
  facts->mutable_sass()->set_instructions(900);
  facts->mutable_sass()->set_tensor(64);
  facts->mutable_sass()->set_warpgroup_tensor(64);
  v1::Diagnostic* warning = result.mutable_build()->add_diagnostics();
  warning->set_severity("warning");
  warning->set_message("Potential Performance Loss: wgmma.mma_async instructions are serialized");
  v1::WorkloadResult* workload = result.add_workloads();
  workload->set_workload_uuid("w1");
  workload->set_floor_us(10);
  workload->set_host_us(4);
  workload->mutable_candidate()->set_median_us(40);
  workload = result.add_workloads();
  workload->set_workload_uuid("w2");
  workload->set_floor_us(10);
  workload->mutable_candidate()->set_median_us(20);
  workload->set_host_bound(true);
  return result;
}

TEST(EvaluationPacket, SaysWhatHoldsTheKernelsBack) {
  v1::JobResult result = Screened();
  AddDecode(&result);
  v1::Task task;
  task.mutable_work()->set_bytes("n * 4");
  for (const char* uuid : {"w1", "w2"}) {
    v1::Workload* workload = task.add_workloads();
    workload->set_uuid(uuid);
    workload->add_axes()->set_axis("n");
    workload->mutable_axes(0)->set_value(10'000'000);
  }
  const std::string text = PacketOf(result, nullptr, &task);
  for (const char* line : {
           "built for sm_90a, run on NVIDIA H200\n",
           "can beat: 2.00 to 4.00, geometric mean 2.83; farthest: workload w1 with 40.0 us over "
           "10.0 us, 1.00 TB/s of needed work\n",
           "the host needs up to 4.00 us a call; HOST-BOUND on w2: ",
           "profile of workload w1 by ncu 2025.3.1 with cold caches: 1 kernels, 27.0 us of kernels "
           "a "
           "call, which takes 40.0 us when timed (32 % outside kernels: gaps between launches)\n",
           "bound by latency: ",
           "decode<128>: 90 % of the time, 1 launch of 27.0 us, grid 64x8, block 256\n",
           "  resources: 168 registers a thread, SPILLS 8 bytes out and 12 in a thread, shared "
           "memory 1024 static + 65536 dynamic bytes, 1 blocks an SM, limited by registers and "
           "shared memory, 3.88 waves, occupancy 12 % of 12 % possible\n",
           "  of peak: SM 22 %, memory 41 %, DRAM 41 %, tensor pipe 3 %\n",
           "  warps wait for: long_scoreboard 25 %, barrier 17 %, wait 12 %\n",
           "  memory: DRAM 50.0 MB read and 1.00 MB written at 1.90 TB/s, UNCOALESCED loads: 8.00 "
           "of 32 bytes a sector used\n",
           "  code: 900 instructions: 64 matrix (64 of a warpgroup), 0 global loads",
           "compiler warning: Potential Performance Loss: wgmma",
       }) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  EXPECT_THAT(text, Not(HasSubstr("math_pipe_throttle")));
}

TEST(EvaluationPacket, WithoutAProfileTheCompilerStillSpeaks) {
  v1::JobResult result = Screened();
  result.mutable_build()->add_kernels()->set_name("combine");
  std::string text = PacketOf(result);
  EXPECT_THAT(text, HasSubstr("decode<128>: 168 registers a thread, SPILLS 8 bytes out"));
  EXPECT_THAT(text, HasSubstr("combine: 0 registers a thread, no spills\n"));
  EXPECT_THAT(text, Not(HasSubstr("profile")));
  result.mutable_profile()->set_absence(v1::Profile::NOT_PERMITTED);
  result.mutable_profile()->set_note("counters are the administrator's");
  text = PacketOf(result);
  EXPECT_THAT(text, HasSubstr("not profiled: counters are the administrator's\n"));
  EXPECT_THAT(text, HasSubstr("decode<128>: 168 registers"));
}

TEST(EvaluationPacket, SpillingKernelsComeFirstAndManyAreCutOff) {
  v1::JobResult result;
  for (int i = 0; i < 20; ++i) {
    v1::KernelFacts* kernel = result.mutable_build()->add_kernels();
    kernel->set_name(absl::StrCat("k<", i, ">"));
    if (i == 15) kernel->set_spill_store_bytes(64);
  }
  const std::string text = PacketOf(result);
  EXPECT_LT(text.find("k<15>"), text.find("k<0>"));
  EXPECT_THAT(text, HasSubstr("and 13 more kernels\n"));
  EXPECT_THAT(text, Not(HasSubstr("k<9>")));
}

TEST(EvaluationPacket, ProgramsForProcessorsHaveNone) {
  v1::JobResult result;
  result.set_outcome(v1::OUTCOME_PASSED);
  result.add_workloads()->mutable_candidate()->set_median_us(3);
  EXPECT_THAT(PacketOf(result), IsEmpty());
}

TEST(EvaluationPacket, OnlyWhatMovedSinceTheParentIsTold) {
  v1::JobResult parent = Screened();
  AddDecode(&parent);
  v1::JobResult result = parent;
  EXPECT_THAT(PacketOf(result, &parent), Not(HasSubstr("moved")));
  v1::KernelProfile* kernel = result.mutable_profile()->mutable_kernels(0);
  kernel->set_duration_us(18);
  kernel->set_registers(170);       // not a tenth
  kernel->set_tensor_percent(4.5);  // 1.5 times as much, but still very little
  kernel->set_dram_percent(62);
  EXPECT_THAT(PacketOf(result, &parent),
              HasSubstr("moved by more than a tenth since the program it was built from:\n"
                        "  decode<128>: time 27.0 -> 18.0 us, DRAM 41 -> 62 %\n"));
  // Profiles of different workloads cannot be compared; the compiler's numbers can.
  parent.mutable_profile()->set_workload_uuid("w2");
  result.mutable_build()->mutable_kernels(0)->set_registers(96);
  result.mutable_build()->mutable_kernels(0)->set_name("decode2");
  EXPECT_THAT(PacketOf(result, &parent),
              HasSubstr("  decode2 (there decode<128>): registers 168 -> 96\n"));
}

TEST(EvaluationPacket, HeldOutWorkloadsAreLeftOut) {
  v1::JobResult result = Screened();
  v1::Task task;
  task.add_workloads()->set_uuid("w2");
  task.add_workloads()->set_uuid("w1");
  task.mutable_workloads(1)->set_held_out(true);
  EXPECT_THAT(PacketOf(result, nullptr, &task), Not(HasSubstr("w1")));
}

// Fills every field at random, lists long, texts long and of any bytes.
void Fill(Rng* rng, int depth, google::protobuf::Message* message) {
  using google::protobuf::FieldDescriptor;
  const google::protobuf::Descriptor* type = message->GetDescriptor();
  const google::protobuf::Reflection* reflection = message->GetReflection();
  const auto number = [&]() -> double {
    switch (rng->NextBelow(6)) {
      case 0:
        return 0;
      case 1:
        return std::numeric_limits<double>::quiet_NaN();
      case 2:
        return std::numeric_limits<double>::infinity();
      case 3:
        return -1e300;
      case 4:
        return 1e300;
      default:
        return 1e6 * rng->NextDouble();
    }
  };
  const auto text = [&] {
    std::string bytes(rng->NextBelow(3000), ' ');
    for (char& c : bytes) c = static_cast<char>(rng->NextBelow(128));
    return bytes;
  };
  for (int i = 0; i < type->field_count(); ++i) {
    const FieldDescriptor* field = type->field(i);
    const int times =
        field->is_repeated() ? static_cast<int>(rng->NextBelow(depth == 0 ? 60 : 20)) : 1;
    for (int k = 0; k < times; ++k) {
      const bool many = field->is_repeated();
      switch (field->cpp_type()) {
        case FieldDescriptor::CPPTYPE_MESSAGE:
          if (depth < 4) {
            Fill(rng, depth + 1,
                 many ? reflection->AddMessage(message, field)
                      : reflection->MutableMessage(message, field));
          }
          break;
        case FieldDescriptor::CPPTYPE_STRING:
          many ? reflection->AddString(message, field, text())
               : reflection->SetString(message, field, text());
          break;
        case FieldDescriptor::CPPTYPE_DOUBLE:
          many ? reflection->AddDouble(message, field, number())
               : reflection->SetDouble(message, field, number());
          break;
        case FieldDescriptor::CPPTYPE_INT32:
          if (!many) {
            reflection->SetInt32(message, field, static_cast<int32_t>(rng->NextBelow(1u << 31)));
          }
          break;
        case FieldDescriptor::CPPTYPE_INT64:
          if (!many) {
            reflection->SetInt64(message, field, static_cast<int64_t>(rng->NextBelow(1ull << 62)));
          }
          break;
        case FieldDescriptor::CPPTYPE_ENUM:
          many ? reflection->AddEnumValue(message, field, static_cast<int>(rng->NextBelow(9)))
               : reflection->SetEnumValue(message, field, static_cast<int>(rng->NextBelow(9)));
          break;
        case FieldDescriptor::CPPTYPE_BOOL:
          if (!many) reflection->SetBool(message, field, rng->NextBelow(2) == 1);
          break;
        default:
          break;
      }
    }
  }
}

#ifdef KSEARCH_SANITIZED
constexpr uint64_t kSeeds = 6;  // ten times as slow there
#else
constexpr uint64_t kSeeds = 60;
#endif

TEST(EvaluationPacket, IsBoundedWhateverTheInput) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    v1::JobResult result, parent;
    Fill(&rng, 0, &result);
    Fill(&rng, 0, &parent);
    const std::string text = PacketOf(result, &parent);
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), kMaxPacketLines);
    EXPECT_LE(text.size(), kMaxPacketBytes);
    EXPECT_TRUE(std::all_of(text.begin(), text.end(),
                            [](char c) { return c == '\n' || (c >= 0x20 && c < 0x7f); }));
  }
}

TEST(PacketFormat, NumbersHaveThreeDigits) {
  EXPECT_EQ(packet::Count(7), "7");
  EXPECT_EQ(packet::Count(1234567), "1.23M");
  EXPECT_EQ(packet::Count(999.9), "1.00k");
  EXPECT_EQ(packet::Bytes(512), "512 B");
  EXPECT_EQ(packet::Bytes(3.1e12, "/s"), "3.10 TB/s");
  EXPECT_EQ(packet::Number(123.4), "123");
  EXPECT_EQ(packet::Clean("a\nb\x7f<long>", 7), "a?b?...");
}

}  // namespace
}  // namespace ksearch
