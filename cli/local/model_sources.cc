#include "cli/local/model_sources.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "common/access/client_access.h"
#include "common/status_macros.h"

namespace ksearch {
namespace {

constexpr char kOpenAiKey[] = "OPENAI_API_KEY";
constexpr char kOpenAiUrl[] = "OPENAI_BASE_URL";
constexpr char kModelUrl[] = "KSEARCH_MODEL_URL";
constexpr char kModelKey[] = "KSEARCH_MODEL_KEY";
// The embedding model of the user's own server; unset: none.
constexpr char kEmbeddingModel[] = "KSEARCH_EMBEDDING_MODEL";
constexpr char kOpenAiEmbeddings[] = "text-embedding-3-small";
constexpr char kGeminiEmbeddings[] = "gemini-embedding-001";
constexpr int kGeminiEmbeddingTokens = 2048;
constexpr char kGeminiUrl[] = "https://generativelanguage.googleapis.com/v1beta/openai";

bool Has(const Environment& environment, const std::string& name) {
  return !ValueOf(environment, name).empty();
}

ModelSource Missing(const std::string& name, const std::string& variable,
                    const std::string& missing) {
  ModelSource source;
  source.name = name;
  source.variable = variable;
  source.missing = missing;
  return source;
}

ModelSource NoKey(const std::string& name, const std::string& variable) {
  return Missing(name, variable, absl::StrCat(variable, " is not set: export ", variable, "=..."));
}

ModelSource WithKey(const std::string& name, const std::string& variable) {
  ModelSource source;
  source.name = name;
  source.variable = variable;
  source.usable = true;
  source.found = absl::StrCat("key in ", variable);
  source.environment = {variable};
  source.provider.set_name(name);
  return source;
}

// A server of the user's own that speaks OpenAI's form.
ModelSource OwnServer(const Environment& environment, const std::string& url_variable,
                      const std::string& key_variable) {
  const auto url = ModelBaseUrl(ValueOf(environment, url_variable));
  if (!url.ok()) {
    return Missing("local", url_variable, absl::StrCat(url_variable, ": ", url.status().message()));
  }
  ModelSource source;
  source.name = "local";
  source.variable = url_variable;
  source.usable = true;
  source.found = absl::StrCat(*url, " of ", url_variable);
  source.provider.set_name(source.name);
  source.provider.set_free(true);
  v1::OpenAiChat* const chat = source.provider.mutable_openai_chat();
  chat->set_base_url(*url);
  chat->set_embedding_model(ValueOf(environment, kEmbeddingModel));
  if (IsLoopbackUrl(*url)) {
    // Every server of this kind understands the older name (docs/providers.md).
    chat->set_token_limit_field("max_tokens");
    chat->set_label_headers(true);  // a scripted server answers by them; others do not care
  }
  if (Has(environment, key_variable)) {
    chat->set_api_key_env(key_variable);
    source.environment = {key_variable};
    absl::StrAppend(&source.found, ", key in ", key_variable);
  }
  return source;
}

ModelSource OpenAi(const Environment& environment, bool url_is_local) {
  if (url_is_local) {
    return Missing("openai", kOpenAiKey,
                   absl::StrCat(kOpenAiUrl,
                                " names a server on this machine: use --model "
                                "local/NAME, or unset it"));
  }
  if (!Has(environment, kOpenAiKey)) return NoKey("openai", kOpenAiKey);
  ModelSource source = WithKey("openai", kOpenAiKey);
  source.provider.mutable_openai_chat()->set_api_key_env(kOpenAiKey);
  if (Has(environment, kOpenAiUrl)) {
    const auto url = ModelBaseUrl(ValueOf(environment, kOpenAiUrl));
    if (!url.ok()) {
      return Missing("openai", kOpenAiUrl, absl::StrCat(kOpenAiUrl, ": ", url.status().message()));
    }
    source.provider.mutable_openai_chat()->set_base_url(*url);
    absl::StrAppend(&source.found, ", at ", *url);
  } else {
    source.provider.mutable_openai_chat()->set_embedding_model(kOpenAiEmbeddings);
  }
  return source;
}

std::string Names(const std::vector<ModelSource>& sources) {
  return absl::StrJoin(sources, ", ", [](std::string* out, const ModelSource& source) {
    absl::StrAppend(out, source.name);
    if (!source.variable.empty()) absl::StrAppend(out, " (", source.variable, ")");
  });
}

}  // namespace

std::vector<ModelSource> FindModelSources(const Environment& environment) {
  const bool own_url = Has(environment, kModelUrl);
  // A key is sent where its own URL variable says: a proxy on this machine gets OpenAI's key,
  // and OpenAI never gets the proxy's.
  const bool openai_url_is_local =
      !own_url && Has(environment, kOpenAiUrl) && IsLoopbackUrl(ValueOf(environment, kOpenAiUrl));
  std::vector<ModelSource> sources = {OpenAi(environment, openai_url_is_local)};
  if (Has(environment, "ANTHROPIC_API_KEY")) {
    ModelSource& source = sources.emplace_back(WithKey("anthropic", "ANTHROPIC_API_KEY"));
    source.provider.mutable_anthropic()->set_api_key_env(source.variable);
  } else {
    sources.push_back(NoKey("anthropic", "ANTHROPIC_API_KEY"));
  }
  if (Has(environment, "GEMINI_API_KEY")) {
    ModelSource& source = sources.emplace_back(WithKey("gemini", "GEMINI_API_KEY"));
    source.provider.mutable_openai_chat()->set_base_url(kGeminiUrl);
    source.provider.mutable_openai_chat()->set_api_key_env(source.variable);
    source.provider.mutable_openai_chat()->set_embedding_model(kGeminiEmbeddings);
    source.provider.mutable_openai_chat()->set_embedding_piece_bytes(kGeminiEmbeddingTokens);
  } else {
    sources.push_back(NoKey("gemini", "GEMINI_API_KEY"));
  }
  if (own_url) {
    sources.push_back(OwnServer(environment, kModelUrl, kModelKey));
  } else if (openai_url_is_local) {
    sources.push_back(OwnServer(environment, kOpenAiUrl, kOpenAiKey));
  } else {
    sources.push_back(Missing(
        "local", kModelUrl,
        absl::StrCat("no server of your own: export ", kModelUrl, "=http://127.0.0.1:8000/v1")));
  }
  ModelSource& mailbox = sources.emplace_back();
  mailbox.name = "mailbox";
  mailbox.usable = true;
  mailbox.found = "prompts wait for people or programs: ksearch mailbox list --local";
  mailbox.provider.set_name(mailbox.name);
  mailbox.provider.mutable_mailbox();
  return sources;
}

absl::StatusOr<ModelChoice> ParseModelChoice(const std::string& text,
                                             const std::vector<ModelSource>& sources) {
  const size_t slash = text.find('/');
  ModelChoice choice;
  if (slash != std::string::npos) {
    choice = {text.substr(0, slash), text.substr(slash + 1)};
  }
  if (choice.provider.empty() || choice.model.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--model '", text,
        "': with --local it must be PROVIDER/NAME, as openai/NAME; providers: ", Names(sources)));
  }
  const bool known =
      std::any_of(sources.begin(), sources.end(),
                  [&choice](const ModelSource& source) { return source.name == choice.provider; });
  if (!known) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--model '", text, "': there is no provider '", choice.provider,
        "' in local mode; providers, and the variable that each needs: ", Names(sources)));
  }
  return choice;
}

absl::Status CheckUsable(const std::string& provider, const std::vector<ModelSource>& sources,
                         const std::vector<std::string>& running) {
  if (std::find(running.begin(), running.end(), provider) != running.end()) return absl::OkStatus();
  for (const ModelSource& source : sources) {
    if (source.name != provider) continue;
    if (source.usable) return absl::OkStatus();
    return absl::FailedPreconditionError(
        absl::StrCat("model provider ", provider, " cannot be used: ", source.missing));
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "there is no model provider '", provider, "' in local mode; providers: ", Names(sources)));
}

absl::StatusOr<std::string> ModelBaseUrl(const std::string& text) {
  // Messages do not repeat the text: it may be a key that was put into the wrong variable.
  absl::string_view rest = text;
  const bool http = absl::ConsumePrefix(&rest, "http://");
  if (!http && !absl::ConsumePrefix(&rest, "https://")) {
    return absl::InvalidArgumentError(
        "must be the address of a server, such as http://127.0.0.1:8000/v1");
  }
  const absl::string_view host = rest.substr(0, rest.find('/'));
  if (absl::StrContains(host, "@")) {
    return absl::InvalidArgumentError(
        "holds a user name or password, which would be written to a file; a key belongs into a "
        "variable of its own");
  }
  const bool odd = std::any_of(rest.begin(), rest.end(),
                               [](char c) { return c <= ' ' || c >= 0x7f || c == '"'; });
  if (host.empty() || odd || rest.find_first_of("?#") != absl::string_view::npos) {
    return absl::InvalidArgumentError(
        "must be the address of a server without '?', '#' or blanks, such as "
        "http://127.0.0.1:8000/v1");
  }
  if (http && !IsLoopbackUrl(text)) {
    return absl::InvalidArgumentError(
        "plain http goes to this machine only: use https, or forward a port: ssh -N -L "
        "8000:127.0.0.1:8000 HOST");
  }
  std::string url = text;
  while (absl::EndsWith(url, "/")) url.pop_back();
  const size_t path = url.find('/', url.find("://") + 3);
  if (path == std::string::npos) absl::StrAppend(&url, "/v1");
  return url;
}

bool IsLoopbackUrl(absl::string_view url) {
  if (!absl::ConsumePrefix(&url, "http://") && !absl::ConsumePrefix(&url, "https://")) return false;
  return IsLocalAddress(url.substr(0, url.find('/')));
}

}  // namespace ksearch
