#include "coordinator/llm/openai/embeddings_json.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "coordinator/llm/openai/chat_json.h"
#include "coordinator/llm/provider/json_fields.h"

namespace ksearch {
namespace {

absl::Status Missing(absl::string_view what) {
  return absl::DataLossError(absl::StrCat("the reply ", what, "; is base_url right?"));
}

absl::StatusOr<Embedding> ReadEmbedding(const Json& value) {
  if (value.is_string()) return DecodeEmbedding(value.get_ref<const std::string&>());
  if (!value.is_array() || value.size() > kMaxEmbeddingNumbers) {
    return absl::DataLossError(absl::StrCat("no embedding: not an array of 1 to ",
                                            kMaxEmbeddingNumbers, " numbers, nor base64"));
  }
  Embedding embedding;
  embedding.reserve(value.size());
  for (const Json& number : value) {
    if (!number.is_number()) {
      return absl::DataLossError("no embedding: an element is not a number");
    }
    embedding.push_back(number.get<float>());
  }
  // Decoding checks that the numbers are finite and not all 0.
  return DecodeEmbedding(EncodeEmbedding(embedding));
}

}  // namespace

std::string EmbeddingsRequestJson(const std::string& model,
                                  const std::vector<absl::string_view>& pieces) {
  Json body = {{"model", model}, {"encoding_format", "float"}};
  if (pieces.size() == 1) {
    body["input"] = std::string(pieces[0]);
  } else {
    Json input = Json::array();
    for (const absl::string_view piece : pieces) input.push_back(std::string(piece));
    body["input"] = std::move(input);
  }
  return DumpJson(body);
}

absl::StatusOr<EmbeddingsReply> ParseEmbeddings(absl::string_view body, size_t pieces) {
  const Json parsed = ParseJson(body);
  if (parsed.is_discarded()) return Missing(absl::StrCat("is not JSON (", body.size(), " bytes)"));
  const Json& entries = Member(parsed, "data");
  if (!entries.is_array()) return Missing("has no \"data\"");
  if (entries.size() != pieces) {
    return absl::DataLossError(
        absl::StrCat("the reply has ", entries.size(), " embeddings of ", pieces, " texts"));
  }
  EmbeddingsReply reply;
  reply.embeddings.resize(pieces);
  for (size_t i = 0; i < pieces; ++i) {
    const Json& index = Member(entries[i], "index");
    const size_t place = index.is_number_unsigned() ? index.get<size_t>() : i;
    if (place >= pieces || !reply.embeddings[place].empty()) {
      return absl::DataLossError(absl::StrCat("data[", i, "].index is ", place, ", of ", pieces,
                                              " texts, or there twice"));
    }
    absl::StatusOr<Embedding> embedding = ReadEmbedding(Member(entries[i], "embedding"));
    if (!embedding.ok()) {
      return Annotate(embedding.status(), absl::StrCat("data[", i, "].embedding"));
    }
    reply.embeddings[place] = *std::move(embedding);
  }
  reply.model = Text(Member(parsed, "model"));
  const Json& usage = Member(parsed, "usage");
  reply.usage_reported = usage.is_object();
  reply.usage.uncached_input = Count(Member(usage, "prompt_tokens"));
  if (reply.usage.uncached_input == 0) {
    reply.usage.uncached_input = Count(Member(usage, "total_tokens"));
  }
  return reply;
}

std::optional<ProviderError> EmbeddingsReader::ParseError(absl::string_view body) const {
  return ParseChatError(body);
}

absl::Status EmbeddingsReader::OnEvent(const SseEvent& /*event*/) {
  return absl::DataLossError("the reply is an event stream, not embeddings; is base_url right?");
}

absl::StatusOr<ReplyOutcome> EmbeddingsReader::EndOfStream() { return OnEvent(SseEvent()); }

absl::StatusOr<ReplyOutcome> EmbeddingsReader::ReadWhole(absl::string_view body) {
  const std::vector<absl::string_view> pieces = PiecesToEmbed(text_, piece_bytes_);
  absl::StatusOr<EmbeddingsReply> read = ParseEmbeddings(body, pieces.size());
  if (!read.ok()) return read.status();
  const absl::StatusOr<Embedding> whole = JoinEmbeddings(pieces, read->embeddings);
  if (!whole.ok()) return absl::DataLossError(whole.status().message());
  ReplyOutcome outcome;
  outcome.reply.text = EncodeEmbedding(*whole);
  outcome.reply.finish_reason = "stop";
  outcome.reply.model = std::move(read->model);
  outcome.reply.usage = read->usage;
  outcome.reply.usage_reported = read->usage_reported;
  return outcome;
}

}  // namespace ksearch
