// Needs a GPU; skips without a driver. Run it by itself: it starts itself again as the other
// process that shared memory is for.
#include "gpu_worker/verifier/cuda/cuda_buffer_sets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "common/rng.h"
#include "common/textproto.h"
#include "gpu_worker/cuda/cuda_error.h"
#include "gpu_worker/verifier/host/host_outputs.h"
#include "gpu_worker/verifier/tensors/compare.h"
#include "gpu_worker/verifier/tensors/element.h"

namespace ksearch {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

constexpr v1::DType kTypes[] = {v1::DTYPE_FLOAT32,       v1::DTYPE_FLOAT16,     v1::DTYPE_BFLOAT16,
                                v1::DTYPE_FLOAT8_E4M3FN, v1::DTYPE_FLOAT8_E5M2, v1::DTYPE_INT64,
                                v1::DTYPE_INT32,         v1::DTYPE_INT16,       v1::DTYPE_INT8,
                                v1::DTYPE_BOOL};
constexpr int kTypeCount = 10;
// No multiple of any chunk.
constexpr int64_t kOddElements = 100'003;

double Milliseconds(std::chrono::steady_clock::time_point since) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - since)
      .count();
}

// One input and one output of `elements` elements per type: in0.., out0...
v1::Task EveryType(int64_t elements, const std::string& recipe = "random {}") {
  v1::Task task;
  task.set_name("every_type");
  task.set_device(v1::DEVICE_CLASS_CUDA);
  task.mutable_tolerance()->set_atol(0.05);
  task.mutable_tolerance()->set_rtol(0.02);
  v1::Definition& definition = *task.mutable_definition();
  definition.set_name("every_type");
  definition.add_axes()->set_name("n");
  v1::Workload& workload = *task.add_workloads();
  workload.set_uuid("w");
  v1::AxisValue& axis = *workload.add_axes();
  axis.set_axis("n");
  axis.set_value(elements);
  for (int i = 0; i < kTypeCount; ++i) {
    v1::TensorSpec& input = *definition.add_inputs();
    input.set_name(absl::StrCat("in", i));
    input.add_shape("n");
    input.set_dtype(kTypes[i]);
    v1::InputRecipe& made = *workload.add_inputs();
    CHECK_OK(ParseTextproto(recipe, "recipe", &made));
    made.set_input(input.name());
    v1::TensorSpec& output = *definition.add_outputs();
    output.set_name(absl::StrCat("out", i));
    output.add_shape("n");
    output.set_dtype(kTypes[i]);
  }
  return task;
}

std::shared_ptr<const WorkloadCase> CaseOf(const v1::Task& task, uint64_t seed = 1) {
  return *WorkloadCase::Create(task, task.workloads(0), "sha", Seed{seed, 2});
}

// A shared buffer as a runner has it.
class View {
 public:
  View(const CudaDevice& device, const MapPacket& packet, int buffer)
      : api_(device.api()), offset_(packet.request.buffers(buffer).offset()) {
    const int64_t bytes = packet.request.buffers(buffer).file_bytes();
    memory_ = *DeviceMemory::Import(device.api(), device.handle(),
                                    packet.fds[static_cast<size_t>(buffer)], bytes);
  }
  // Positions count from the tensor's first byte.
  std::vector<std::byte> Read(int64_t position, int64_t bytes) const {
    std::vector<std::byte> out(static_cast<size_t>(bytes));
    CHECK_OK(CudaStatus(api_, api_.cuMemcpyDtoH(out.data(), At(position), out.size()), "read"));
    return out;
  }
  void Write(int64_t position, const std::vector<std::byte>& bytes) const {
    CHECK_OK(
        CudaStatus(api_, api_.cuMemcpyHtoD(At(position), bytes.data(), bytes.size()), "write"));
    // A copy from pageable memory may be on its way still, and this mapping may go.
    CHECK_OK(CudaStatus(api_, api_.cuCtxSynchronize(), "write"));
  }
  void Flip(int64_t position) const {
    std::vector<std::byte> byte = Read(position, 1);
    byte[0] ^= std::byte{1};
    Write(position, byte);
  }
  int64_t bytes() const { return memory_.bytes(); }

 private:
  CUdeviceptr At(int64_t position) const {
    return memory_.address() + static_cast<CUdeviceptr>(offset_ + position);
  }
  const DriverApi& api_;
  const int64_t offset_;
  DeviceMemory memory_;
};

class CudaBufferSetsTest : public ::testing::Test {
 protected:
  static std::shared_ptr<VerifierDevice>& Opened() {
    static std::shared_ptr<VerifierDevice> opened;
    return opened;
  }
  void SetUp() override {
    if (Opened() == nullptr) {
      const auto made = VerifierDevice::Open("");
      if (absl::IsNotFound(made.status())) GTEST_SKIP() << made.status().message();
      ASSERT_TRUE(made.ok()) << made.status();
      Opened() = *made;
    }
    gpu_ = Opened();
  }
  void TearDown() override {
    if (gpu_ != nullptr) {
      EXPECT_TRUE(gpu_->health().ok()) << gpu_->health();
    }
  }
  static void TearDownTestSuite() { Opened().reset(); }

  void Make(const v1::Task& task, int sets) {
    workload_ = CaseOf(task);
    const auto made = CudaBufferSets::Create(gpu_, workload_, sets);
    ASSERT_TRUE(made.ok()) << made.status();
    buffers_ = *made;
    packets_ = buffers_->Map(sets);
  }
  View Shared(int set, int tensor) const {
    const int index = set * static_cast<int>(workload_->tensors().size()) + tensor;
    return View(gpu_->device(), packets_[static_cast<size_t>(index / 64)], index % 64);
  }
  const TensorArgument& Tensor(int index) const {
    return workload_->tensors()[static_cast<size_t>(index)];
  }
  CallFindings Findings(int set, uint64_t salt) { return buffers_->Collect({{set, 0}}, salt)[0]; }
  std::vector<double> Values(int set, int tensor) const {
    const TensorArgument& argument = Tensor(tensor);
    const std::vector<std::byte> bytes = Shared(set, tensor).Read(0, argument.bytes);
    std::vector<double> values(static_cast<size_t>(argument.elements));
    DecodeElements(argument.dtype, bytes.data(), argument.elements, values.data());
    return values;
  }

  std::shared_ptr<VerifierDevice> gpu_;
  std::shared_ptr<const WorkloadCase> workload_;
  std::shared_ptr<BufferSets> buffers_;
  std::vector<MapPacket> packets_;
};

TEST_F(CudaBufferSetsTest, DrawsWhatTheHostsFormulaSays) {
  Make(EveryType(kOddElements), 2);
  buffers_->Prepare({{0, 7}, {1, 8}}, 1);
  for (int t = 0; t < kTypeCount; ++t) {
    const std::vector<double> values = Values(0, t);
    const std::vector<double> others = Values(1, t);
    const uint64_t key = workload_->generator(t).random()->key;
    const double rounding = RelativeRounding(kTypes[t]);
    double sum = 0, squares = 0;
    int64_t same = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      const device::Four block = device::PhiloxBlock(key, i / 4, 7);
      double expected;
      if (IsFloating(kTypes[t])) {
        float normals[4];
        device::FourNormals(block, normals);
        expected = static_cast<double>(normals[i % 4]);
        if (workload_->tensors()[static_cast<size_t>(t)].bytes == kOddElements) {
          expected = std::clamp(expected, -2.0, 2.0);
        }
        // The device's logarithm and sine are the fast ones.
        ASSERT_NEAR(values[i], expected, std::fabs(expected) * 2.1 * rounding + 0.02)
            << "type " << t << " element " << i;
      } else {
        const uint32_t random = block.v[i % 4];
        expected = kTypes[t] == v1::DTYPE_BOOL   ? (random >> 31)
                   : kTypes[t] == v1::DTYPE_INT8 ? static_cast<double>(random >> 24) - 128
                                                 : static_cast<double>(random >> 21) - 1024;
        ASSERT_EQ(values[i], expected) << "type " << t << " element " << i;
      }
      sum += values[i];
      squares += values[i] * values[i];
      same += values[i] == others[i] ? 1 : 0;
    }
    if (kTypes[t] == v1::DTYPE_FLOAT32) {
      EXPECT_NEAR(sum / kOddElements, 0, 0.02);
      EXPECT_NEAR(squares / kOddElements, 1, 0.03);
    }
    EXPECT_LT(same, kOddElements * 6 / 10) << "contents 7 and 8 of type " << t << " are alike";
  }
}

TEST_F(CudaBufferSetsTest, RecipesApply) {
  v1::Task task = EveryType(kOddElements,
                            "random { scale: 0.5 offset: 3 raise: 100 raise_first: 10 raise_count: "
                            "5 probability: 0.25 }");
  Make(task, 1);
  buffers_->Prepare({{0, 0}}, 1);
  const std::vector<double> floats = Values(0, 0);
  double sum = 0;
  for (size_t i = 0; i < floats.size(); ++i) {
    const bool raised = i >= 10 && i < 15;
    EXPECT_NEAR(floats[i], raised ? 103 : 3, 3.5) << i;
    sum += floats[i];
  }
  EXPECT_NEAR(sum / kOddElements, 3, 0.03);
  sum = 0;
  for (const double value : Values(0, kTypeCount - 1)) sum += value;
  EXPECT_NEAR(sum / kOddElements, 0.25, 0.01);
  EXPECT_EQ(buffers_->ChangedInput({0, 0}), std::nullopt);
  Make(EveryType(kOddElements, "random { distribution: CAUCHY }"), 1);
  buffers_->Prepare({{0, 0}}, 1);
  int64_t inner = 0;
  double largest = 0;
  for (const double value : Values(0, 0)) {
    ASSERT_TRUE(std::isfinite(value));
    inner += std::fabs(value) < 1 ? 1 : 0;
    largest = std::max(largest, std::fabs(value));
  }
  EXPECT_NEAR(static_cast<double>(inner) / kOddElements, 0.5, 0.01);
  EXPECT_GT(largest, 1000);
}

TEST_F(CudaBufferSetsTest, PreparedSetsAreIntactAndUnwritten) {
  Make(EveryType(kOddElements), 3);
  buffers_->Prepare({{2, 5}, {0, 6}}, 99);
  EXPECT_EQ(buffers_->ChangedInput({2, 5}), std::nullopt);
  EXPECT_EQ(buffers_->ChangedInput({0, 6}), std::nullopt);
  EXPECT_THAT(buffers_->ChangedInput({0, 5}), Optional(std::string("in0")));
  EXPECT_EQ(Findings(2, 99).unwritten, "out0");
  EXPECT_EQ(Findings(2, 99).broken_guard, "");
  // Poison of another salt: what is left to be called unwritten has too few bits to differ.
  EXPECT_NE(Findings(2, 98).unwritten, "out0");
}

TEST_F(CudaBufferSetsTest, OneUnwrittenElementShows) {
  Make(EveryType(kOddElements), 1);
  constexpr uint64_t kSalt = 5;
  buffers_->Prepare({{0, 0}}, kSalt);
  std::vector<std::vector<std::byte>> poison;
  for (int o = 0; o < kTypeCount; ++o) {
    const View output = Shared(0, kTypeCount + o);
    poison.push_back(output.Read(0, Tensor(kTypeCount + o).bytes));
    output.Write(0, std::vector<std::byte>(poison.back().size(), std::byte{0}));
  }
  EXPECT_EQ(Findings(0, kSalt).unwritten, "");
  for (int o = 0; o < kTypeCount; ++o) {
    const View output = Shared(0, kTypeCount + o);
    const std::vector<std::byte>& old = poison[static_cast<size_t>(o)];
    const int64_t element = static_cast<int64_t>(old.size()) / kOddElements;
    const bool whole = !IsFloating(kTypes[o]) && kTypes[o] != v1::DTYPE_BOOL;
    for (const int64_t index : {int64_t{0}, int64_t{777}, kOddElements - 1}) {
      const auto first = old.begin() + index * element;
      output.Write(index * element, std::vector<std::byte>(first, first + element));
      EXPECT_EQ(Findings(0, kSalt).unwritten, whole ? "" : absl::StrCat("out", o)) << index;
      output.Write(index * element, std::vector<std::byte>(static_cast<size_t>(element)));
    }
    output.Write(0, old);
    EXPECT_EQ(Findings(0, kSalt).unwritten, absl::StrCat("out", o));
    output.Write(0, std::vector<std::byte>(old.size(), std::byte{0}));
  }
}

TEST_F(CudaBufferSetsTest, WritesOutsideATensorShow) {
  Make(EveryType(kOddElements), 2);
  buffers_->Prepare({{0, 0}, {1, 1}}, 1);
  for (const int tensor : {0, 3, kTypeCount + 2, kTypeCount + 9}) {
    const View view = Shared(1, tensor);
    const TensorArgument& argument = Tensor(tensor);
    const int64_t last = view.bytes() - CudaBufferSets::kGuardBytes - 1;
    const std::pair<int64_t, std::string> places[] = {
        {-1, absl::StrCat("wrote 1 bytes before '", argument.name)},
        {-4096, absl::StrCat("wrote 4096 bytes before '", argument.name)},
        {argument.bytes, absl::StrCat("wrote 0 bytes past the end of '", argument.name)},
        {argument.bytes + 777, absl::StrCat("wrote 777 bytes past the end of '", argument.name)},
        {last, absl::StrCat("past the end of '", argument.name)}};
    for (const auto& [place, sentence] : places) {
      view.Flip(place);
      const std::vector<CallFindings> findings = buffers_->Collect({{0, 0}, {1, 1}}, 1);
      EXPECT_EQ(findings[0].broken_guard, "");
      EXPECT_THAT(findings[1].broken_guard, HasSubstr(sentence)) << place;
      view.Flip(place);
    }
  }
  Shared(1, 3).Flip(-9);
  buffers_->Map(2);  // the next runner starts with whole guards
  EXPECT_EQ(Findings(1, 1).broken_guard, "");
  EXPECT_EQ(buffers_->ChangedInput({1, 1}), std::nullopt);
}

TEST_F(CudaBufferSetsTest, AChangedInputShows) {
  Make(EveryType(kOddElements), 1);
  buffers_->Prepare({{0, 4}}, 1);
  for (int t = 0; t < kTypeCount; ++t) {
    const View view = Shared(0, t);
    for (const int64_t place : {int64_t{0}, int64_t{50'001}, Tensor(t).bytes - 1}) {
      view.Flip(place);
      EXPECT_THAT(buffers_->ChangedInput({0, 4}), Optional(absl::StrCat("in", t))) << place;
      view.Flip(place);
    }
  }
  EXPECT_EQ(buffers_->ChangedInput({0, 4}), std::nullopt);
}

TEST_F(CudaBufferSetsTest, InputsWithStructureAreDrawnOnTheHost) {
  v1::Task task;
  CHECK_OK(ParseTextproto(
      R"(name: "paged" device: DEVICE_CLASS_CUDA
         definition {
           name: "paged"
           axes { name: "len" } axes { name: "pages" } axes { name: "used" }
           inputs { name: "indptr" shape: "len" dtype: DTYPE_INT32 }
           inputs { name: "indices" shape: "used" dtype: DTYPE_INT32 }
           inputs { name: "x" shape: "used" dtype: DTYPE_BFLOAT16 }
           outputs { name: "y" shape: "len" dtype: DTYPE_FLOAT32 }
         }
         workloads {
           uuid: "w"
           axes { axis: "len" value: 65 } axes { axis: "pages" value: 200000 }
           axes { axis: "used" value: 145422 }
           inputs { input: "indptr" indptr { total_axis: "used" min_length: 1 } }
           inputs { input: "indices" page_indices { pool_axis: "pages" } }
           inputs { input: "x" random {} }
         })",
      "task", &task));
  Make(task, 2);
  buffers_->Prepare({{0, 3}, {1, 4}}, 1);
  for (int t = 0; t < 2; ++t) {
    EXPECT_TRUE(workload_->generator(t).Matches(3, Shared(0, t).Read(0, Tensor(t).bytes).data()));
    EXPECT_TRUE(workload_->generator(t).Matches(4, Shared(1, t).Read(0, Tensor(t).bytes).data()));
  }
  EXPECT_EQ(buffers_->ChangedInput({0, 3}), std::nullopt);
  Shared(0, 1).Flip(4 * 145'421);
  EXPECT_THAT(buffers_->ChangedInput({0, 3}), Optional(std::string("indices")));
}

std::vector<std::byte> RandomElements(v1::DType dtype, const std::vector<std::byte>* near,
                                      Rng* rng) {
  const int64_t bytes = near == nullptr ? 0 : static_cast<int64_t>(near->size()) / kOddElements;
  std::vector<std::byte> out;
  for (int64_t i = 0; i < kOddElements; ++i) {
    double value = IsFloating(dtype) ? rng->NextDouble() * 8 - 4
                                     : static_cast<double>(rng->NextBelow(100)) - 50;
    if (near != nullptr && rng->NextBelow(100) != 0) {
      value = DecodeElement(dtype, near->data() + i * bytes) * (1 + 0.04 * rng->NextDouble());
    }
    if (IsFloating(dtype) && rng->NextBelow(500) == 0) {
      constexpr double kOdd[] = {std::numeric_limits<double>::infinity(),
                                 -std::numeric_limits<double>::infinity(),
                                 std::numeric_limits<double>::quiet_NaN(), 0.0};
      value = kOdd[rng->NextBelow(4)];
    }
    std::byte element[8] = {};
    EncodeElement(dtype, value, element);
    const int64_t width =
        dtype == v1::DTYPE_INT64                                                                ? 8
        : dtype == v1::DTYPE_FLOAT32 || dtype == v1::DTYPE_INT32                                ? 4
        : dtype == v1::DTYPE_FLOAT16 || dtype == v1::DTYPE_BFLOAT16 || dtype == v1::DTYPE_INT16 ? 2
                                                                                                : 1;
    out.insert(out.end(), element, element + width);
  }
  return out;
}

TEST_F(CudaBufferSetsTest, ComparesAsTheHostDoes) {
  Make(EveryType(kOddElements), 2);
  Rng rng(11);
  std::vector<std::vector<std::byte>> oracle, got;
  for (int o = 0; o < kTypeCount; ++o) {
    oracle.push_back(RandomElements(kTypes[o], nullptr, &rng));
    got.push_back(RandomElements(kTypes[o], &oracle.back(), &rng));
    Shared(0, kTypeCount + o).Write(0, oracle.back());
    Shared(1, kTypeCount + o).Write(0, got.back());
  }
  const std::vector<CallFindings> findings = buffers_->Collect({{0, 0}, {1, 1}}, 1);
  EXPECT_NE(findings[0].fingerprint, findings[1].fingerprint);
  const std::shared_ptr<const SavedOutputs> saved = *buffers_->Save(0);
  const std::shared_ptr<const SavedOutputs> other = *buffers_->Save(1);
  // What is written after the calls were collected counts for nothing.
  for (int o = 0; o < kTypeCount; ++o) {
    Shared(1, kTypeCount + o).Write(0, std::vector<std::byte>(got[static_cast<size_t>(o)].size()));
  }
  const HostOutputs host_oracle(oracle), host_got(got);
  const std::vector<TensorComparison> expected = host_got.CompareWith(*workload_, host_oracle);
  for (const auto& compared :
       {buffers_->Compare(1, *saved), other->CompareWith(*workload_, *saved)}) {
    ASSERT_EQ(compared.size(), expected.size());
    for (size_t o = 0; o < expected.size(); ++o) {
      SCOPED_TRACE(absl::StrCat("type ", o));
      EXPECT_GT(expected[o].wrong, 0);
      EXPECT_EQ(compared[o].wrong, expected[o].wrong);
      EXPECT_EQ(compared[o].first_wrong, expected[o].first_wrong);
      const auto same = [](double a, double b) {
        return a == b || (std::isnan(a) && std::isnan(b));
      };
      EXPECT_TRUE(same(compared[o].first_got, expected[o].first_got));
      EXPECT_TRUE(same(compared[o].first_expected, expected[o].first_expected));
      EXPECT_EQ(compared[o].max_abs, expected[o].max_abs);
      EXPECT_EQ(compared[o].max_rel, expected[o].max_rel);
      EXPECT_NEAR(compared[o].error_squares, expected[o].error_squares,
                  1e-9 * expected[o].error_squares);
      EXPECT_NEAR(compared[o].oracle_squares, expected[o].oracle_squares,
                  1e-9 * expected[o].oracle_squares);
    }
  }
  EXPECT_EQ(OutputWithNan(*workload_, *saved), OutputWithNan(*workload_, host_oracle));
  EXPECT_EQ(JudgeOutputs(*workload_, buffers_->Compare(1, *saved)).message,
            JudgeOutputs(*workload_, expected).message);
  EXPECT_TRUE(JudgeOutputs(*workload_, saved->CompareWith(*workload_, *other)).right == false);
}

// ------------------------------------------------------------------------- another process

void SendFd(int socket, int fd, int64_t bytes) {
  iovec io = {&bytes, sizeof bytes};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &io;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof fd);
  std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  ASSERT_EQ(::sendmsg(socket, &message, 0), static_cast<ssize_t>(sizeof bytes));
}

int ReceiveFd(int socket, int64_t* bytes) {
  iovec io = {bytes, sizeof *bytes};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &io;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (::recvmsg(socket, &message, 0) != static_cast<ssize_t>(sizeof *bytes)) return -1;
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
  return fd;
}

// Takes one buffer, answers with its first byte behind the guard band, doubles it, and adds one to
// the last byte of the front guard band if told so.
int RunAsOtherProcess(int socket) {
  int64_t bytes = 0;
  const UniqueFd fd(ReceiveFd(socket, &bytes));
  const auto api = DriverApi::Load();
  if (!fd.ok() || !api.ok()) return 2;
  const auto device = CudaDevice::Open(*api, "");
  if (!device.ok()) return 3;
  const auto memory = DeviceMemory::Import(**api, (*device)->handle(), fd.get(), bytes);
  if (!memory.ok()) return 4;
  const CUdeviceptr tensor = memory->address() + CudaBufferSets::kGuardBytes;
  float value = 0;
  if ((*api)->cuMemcpyDtoH(&value, tensor, sizeof value) != CUDA_SUCCESS) return 5;
  if (::write(socket, &value, sizeof value) != sizeof value) return 6;
  char mischief = 0;
  if (::read(socket, &mischief, 1) != 1) return 7;
  value *= 2;
  if ((*api)->cuMemcpyHtoD(tensor, &value, sizeof value) != CUDA_SUCCESS) return 8;
  if (mischief == 'm' && (*api)->cuMemsetD8(tensor - 1, 0, 1) != CUDA_SUCCESS) return 9;
  return 0;
}

TEST_F(CudaBufferSetsTest, AnotherProcessSharesTheMemory) {
  Make(EveryType(1000), 1);
  buffers_->Prepare({{0, 4}}, 1);
  const double before = Values(0, 0)[0];
  int pair[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
  const std::string argument = std::to_string(::dup(pair[1]));
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::execl("/proc/self/exe", "cuda_buffer_sets_test", "--as-other-process", argument.c_str(),
            nullptr);
    ::_exit(99);
  }
  ::close(std::stoi(argument));
  ::close(pair[1]);
  SendFd(pair[0], packets_[0].fds[0], packets_[0].request.buffers(0).file_bytes());
  float seen = 0;
  ASSERT_EQ(::read(pair[0], &seen, sizeof seen), static_cast<ssize_t>(sizeof seen));
  EXPECT_EQ(static_cast<double>(seen), before);
  ASSERT_EQ(::write(pair[0], "m", 1), 1);
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
  ::close(pair[0]);
  EXPECT_EQ(Values(0, 0)[0], 2 * before);
  EXPECT_THAT(buffers_->ChangedInput({0, 4}), Optional(std::string("in0")));
  EXPECT_THAT(Findings(0, 1).broken_guard, HasSubstr("wrote 1 bytes before 'in0'"));
}

// ------------------------------------------------------------------------- trouble, and speed

TEST_F(CudaBufferSetsTest, TooLittleMemoryIsSaidAndSurvived) {
  const auto made = CudaBufferSets::Create(gpu_, CaseOf(EveryType(int64_t{1} << 36)), 1);
  EXPECT_EQ(made.status().code(), absl::StatusCode::kResourceExhausted) << made.status();
  EXPECT_TRUE(gpu_->health().ok());
  Make(EveryType(1000), 1);
}

TEST_F(CudaBufferSetsTest, UnknownGpuIsNamed) {
  const auto made = VerifierDevice::Open("GPU-00000000-0000-0000-0000-000000000000");
  ASSERT_EQ(made.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(made.status().message()), HasSubstr(gpu_->device().uuid()));
}

TEST_F(CudaBufferSetsTest, SpeedOnALargeWorkload) {
  const absl::StatusOr<double> bandwidth = gpu_->MeasureCopyBandwidth();
  ASSERT_TRUE(bandwidth.ok()) << bandwidth.status();
  std::printf("%s %s: copy bandwidth %.0f GB/s\n", gpu_->device().name().c_str(),
              gpu_->device().architecture().c_str(), *bandwidth / 1e9);
  // K and V of GQA decode at 145422 tokens: 2 x 149 MB of bf16, with q and the output.
  v1::Task task;
  CHECK_OK(ParseTextproto(
      R"(name: "decode" device: DEVICE_CLASS_CUDA
         definition {
           name: "decode"
           axes { name: "kv" } axes { name: "q" }
           inputs { name: "k" shape: "kv" dtype: DTYPE_BFLOAT16 }
           inputs { name: "v" shape: "kv" dtype: DTYPE_BFLOAT16 }
           inputs { name: "x" shape: "q" dtype: DTYPE_BFLOAT16 }
           outputs { name: "y" shape: "q" dtype: DTYPE_BFLOAT16 }
         }
         workloads {
           uuid: "w"
           axes { axis: "kv" value: 74456064 } axes { axis: "q" value: 262144 }
           inputs { input: "k" random {} }
           inputs { input: "v" random {} }
           inputs { input: "x" random {} }
         })",
      "task", &task));
  auto start = std::chrono::steady_clock::now();
  Make(task, 2);
  std::printf("300 MB, 2 sets: allocate and map %.2f ms\n", Milliseconds(start));
  for (int round = 0; round < 3; ++round) {
    start = std::chrono::steady_clock::now();
    buffers_->Prepare({{0, round}}, 1);
    const double prepare = Milliseconds(start);
    start = std::chrono::steady_clock::now();
    buffers_->Collect({{0, round}}, 1);
    const double collect = Milliseconds(start);
    start = std::chrono::steady_clock::now();
    EXPECT_EQ(buffers_->ChangedInput({0, round}), std::nullopt);
    const double changed = Milliseconds(start);
    start = std::chrono::steady_clock::now();
    const std::shared_ptr<const SavedOutputs> saved = *buffers_->Save(0);
    const double save = Milliseconds(start);
    start = std::chrono::steady_clock::now();
    buffers_->Compare(0, *saved);
    std::printf(
        "300 MB, 1 call: prepare %.3f ms, collect %.3f ms, inputs checked %.3f ms, outputs saved "
        "%.3f ms, compared %.3f ms\n",
        prepare, collect, changed, save, Milliseconds(start));
    if (round > 0) {
      EXPECT_LT(prepare, 20);
    }
  }
  start = std::chrono::steady_clock::now();
  Make(EveryType(kOddElements), 64);
  std::printf("64 sets of 20 tensors: allocate and map %.2f ms\n", Milliseconds(start));
  std::vector<SetContent> calls;
  for (int set = 0; set < 64; ++set) calls.push_back({set, set});
  for (int round = 0; round < 3; ++round) {
    start = std::chrono::steady_clock::now();
    buffers_->Prepare(calls, 1);
    const double prepare = Milliseconds(start);
    start = std::chrono::steady_clock::now();
    buffers_->Collect(calls, 1);
    std::printf("64 calls of 20 tensors: prepare %.3f ms, collect %.3f ms\n", prepare,
                Milliseconds(start));
  }
  // 1.6 GB of float32, as one output of a large pair-wise task.
  Make(EveryType(100), 1);
  const absl::StatusOr<CudaBlock> large = AllocateCudaBlock(gpu_->api(), int64_t{3} << 30);
  ASSERT_TRUE(large.ok()) << large.status();
  CHECK_OK(
      CudaStatus(gpu_->api(), gpu_->api().cuMemsetD8(large->get(), 1, size_t{3} << 30), "fill"));
  for (int round = 0; round < 2; ++round) {
    start = std::chrono::steady_clock::now();
    const TensorComparison compared =
        gpu_->Compare(v1::DTYPE_FLOAT32, large->get(), large->get() + (CUdeviceptr{3} << 29),
                      int64_t{3} << 27, workload_->tolerance());
    EXPECT_EQ(compared.wrong, 0);
    std::printf("1.6 GB of float32 compared in %.3f ms\n", Milliseconds(start));
  }
}

}  // namespace
}  // namespace ksearch

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "--as-other-process") {
    return ksearch::RunAsOtherProcess(std::stoi(argv[2]));
  }
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
