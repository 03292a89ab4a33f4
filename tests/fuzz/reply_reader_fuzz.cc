// A reply's stream means the same however the network cuts it into pieces; what is taken for an
// embedding is one.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/strings/string_view.h"
#include "common/log.h"
#include "coordinator/llm/anthropic/anthropic_json.h"
#include "coordinator/llm/openai/chat_json.h"
#include "coordinator/llm/openai/embeddings_json.h"
#include "coordinator/llm/openai/responses_json.h"

namespace {

std::unique_ptr<ksearch::ReplyReader> NewReader(int kind) {
  if (kind == 0) return std::make_unique<ksearch::ChatReader>(4096);
  if (kind == 1) return std::make_unique<ksearch::AnthropicReader>(4096);
  return std::make_unique<ksearch::ResponsesReader>(4096);
}

absl::StatusOr<ksearch::ReplyOutcome> Read(int kind, absl::string_view bytes, size_t piece) {
  const auto reader = NewReader(kind);
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
    const absl::Status status = reader->Push(bytes.substr(0, piece));
    if (!status.ok()) return status;
  }
  return reader->Finish("");
}

void ReadEmbeddings(absl::string_view bytes, size_t piece) {
  ksearch::EmbeddingsReader reader("a text of several pieces", 4 + piece);
  const auto outcome = reader.Finish(bytes);
  if (!outcome.ok() || outcome->error.has_value()) return;
  CHECK(ksearch::DecodeEmbedding(outcome->reply.text).ok());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const int kind = data[0] % 4;
  const size_t piece = data[1] % 16 + 1;
  const absl::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  if (kind == 3) {
    ReadEmbeddings(bytes, piece);
    return 0;
  }
  const auto whole = Read(kind, bytes, size);
  const auto pieces = Read(kind, bytes, piece);
  CHECK(whole.status().code() == pieces.status().code());
  if (!whole.ok()) return 0;
  CHECK(whole->error.has_value() == pieces->error.has_value());
  CHECK(whole->reply.text == pieces->reply.text);
  CHECK(whole->reply.finish_reason == pieces->reply.finish_reason);
  CHECK(whole->reply.usage == pieces->reply.usage);
  return 0;
}
