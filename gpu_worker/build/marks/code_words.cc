#include "gpu_worker/build/marks/code_words.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace ksearch {
namespace {

bool StartsName(char c) { return absl::ascii_isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool InName(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_'; }

class Reader {
 public:
  explicit Reader(absl::string_view code) {
    // Phase 2 of translation: joins lines; every character keeps its original line.
    int line = 1;
    for (size_t i = 0; i < code.size(); ++i) {
      size_t end = i + 1;
      if (code[i] == '\\') {
        if (end < code.size() && code[end] == '\r') ++end;
        if (end < code.size() && code[end] == '\n') {
          ++line;
          i = end;
          continue;
        }
      }
      text_.push_back(code[i]);
      lines_.push_back(line);
      if (code[i] == '\n') ++line;
    }
  }

  std::vector<CodeWord> Read() {
    while (at_ < text_.size()) Next();
    return std::move(words_);
  }

 private:
  char Peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  void Add(CodeWord::Kind kind, std::string word, size_t start) {
    words_.push_back({kind, std::move(word), lines_[start]});
  }

  void Next() {
    const char c = Peek();
    const size_t start = at_;
    if (c == '/' && Peek(1) == '/') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == '/' && Peek(1) == '*') {
      const size_t end = text_.find("*/", at_ + 2);
      at_ = end == std::string::npos ? text_.size() : end + 2;
    } else if (c == '"') {
      Quoted(start);
    } else if (c == '\'') {
      Character();
    } else if (absl::ascii_isdigit(static_cast<unsigned char>(c))) {
      // 1'000, 0x1p-3, 1.0f: a quote or a point belongs to the number.
      while (InName(Peek()) || Peek() == '.' || (Peek() == '\'' && InName(Peek(1)))) ++at_;
    } else if (StartsName(c)) {
      while (InName(Peek())) ++at_;
      const std::string name = text_.substr(start, at_ - start);
      if (Peek() == '"' &&
          (name == "R" || name == "LR" || name == "uR" || name == "UR" || name == "u8R")) {
        Raw(start);
      } else {
        Add(CodeWord::Kind::kName, name, start);
      }
    } else {
      ++at_;
      if (!absl::ascii_isspace(static_cast<unsigned char>(c))) {
        Add(CodeWord::Kind::kOther, std::string(1, c), start);
      }
    }
  }

  void Quoted(size_t start) {
    ++at_;
    std::string word;
    while (at_ < text_.size() && Peek() != '"' && Peek() != '\n') {
      if (Peek() == '\\') word.push_back(text_[at_++]);
      if (at_ < text_.size()) word.push_back(text_[at_++]);
    }
    if (Peek() == '"') ++at_;
    // Adjacent literals are one.
    if (!words_.empty() && words_.back().kind == CodeWord::Kind::kText) {
      words_.back().word += word;
    } else {
      Add(CodeWord::Kind::kText, std::move(word), start);
    }
  }

  void Character() {
    ++at_;
    while (at_ < text_.size() && Peek() != '\'' && Peek() != '\n') {
      at_ += Peek() == '\\' ? 2 : 1;
    }
    if (Peek() == '\'') ++at_;
  }

  void Raw(size_t start) {
    const size_t open = text_.find('(', at_);
    if (open == std::string::npos) {
      at_ = text_.size();
      return;
    }
    const std::string close = absl::StrCat(")", text_.substr(at_ + 1, open - at_ - 1), "\"");
    const size_t end = std::min(text_.find(close, open), text_.size());
    Add(CodeWord::Kind::kText, text_.substr(open + 1, end - open - 1), start);
    at_ = std::min(end + close.size(), text_.size());
  }

  std::string text_;
  std::vector<int> lines_;  // of each character of text_
  size_t at_ = 0;
  std::vector<CodeWord> words_;
};

}  // namespace

std::vector<CodeWord> CodeWords(absl::string_view code) { return Reader(code).Read(); }

}  // namespace ksearch
