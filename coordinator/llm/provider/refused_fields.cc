#include "coordinator/llm/provider/refused_fields.h"

#include "absl/strings/ascii.h"
#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "common/log.h"
#include "coordinator/llm/provider/json_fields.h"

namespace ksearch {
namespace {

constexpr char kPayload[] = "ksearch.v1/refused_parameter";

bool IsNameByte(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_'; }

bool HasWord(absl::string_view text, absl::string_view word) {
  for (size_t at = text.find(word); at != absl::string_view::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !IsNameByte(text[at - 1])) && (end == text.size() || !IsNameByte(text[end]))) {
      return true;
    }
  }
  return false;
}

struct Path {
  std::string member;
  std::string part;  // a part of the member; empty: all of it
};

Path PathOf(const std::string& field) {
  const std::vector<std::string> names = absl::StrSplit(field, absl::MaxSplits('.', 1));
  return {names[0], names.size() > 1 ? names[1] : ""};
}

bool Has(const Json& body, const Path& path) {
  const auto found = body.find(path.member);
  return found != body.end() && (path.part.empty() || found->contains(path.part));
}

void Erase(const Path& path, Json* body) {
  if (!Has(*body, path)) return;
  if (!path.part.empty()) {
    Json& member = (*body)[path.member];
    member.erase(path.part);
    if (!member.empty()) return;
  }
  body->erase(path.member);
  // A reply that is not streamed reports its usage without this option.
  if (path.member == "stream_options") body->erase("stream");
}

}  // namespace

RefusedFields::Body RefusedFields::Without(const std::string& model, std::string json) const {
  Body body;
  Json parsed = ParseJson(json);
  if (!parsed.is_object()) return {std::move(json), {}};
  MutexLock lock(&mu_);
  if (const auto refused = refused_.find(model); refused != refused_.end()) {
    for (const std::string& field : refused->second) Erase(PathOf(field), &parsed);
    json = DumpJson(parsed);
  }
  for (const std::string& field : optional_) {
    if (Has(parsed, PathOf(field))) body.optional.push_back(field);
  }
  body.json = std::move(json);
  return body;
}

bool RefusedFields::Learn(const std::string& model, const std::vector<std::string>& sent,
                          const absl::Status& failure) {
  const auto payload = failure.GetPayload(kPayload);
  if (!payload.has_value()) return false;
  const std::string said(*payload);
  for (const std::string& field : sent) {
    const Path path = PathOf(field);
    if (!HasWord(said, path.part.empty() ? path.member : path.part)) continue;
    MutexLock lock(&mu_);
    if (refused_[model].insert(field).second) {
      LOG(WARNING) << "model=" << model << " refuses " << field << ", which is left out now";
    }
    return true;
  }
  return false;
}

void NoteRefusal(absl::string_view code, absl::string_view parameter, absl::string_view message,
                 absl::Status* status) {
  const std::string said = absl::AsciiStrToLower(message);
  if (code == "unsupported_value" || code == "invalid_value" ||
      absl::StrContains(said, "unsupported value")) {
    return;
  }
  bool refused = code == "unsupported_parameter" || code == "unknown_parameter";
  for (absl::string_view words :
       {"unsupported parameter", "unknown parameter", "unknown name", "unrecognized request arg",
        "not permitted", "extra_forbidden", "not supported", "not support"}) {
    refused = refused || absl::StrContains(said, words);
  }
  if (refused) status->SetPayload(kPayload, absl::Cord(parameter.empty() ? message : parameter));
}

}  // namespace ksearch
