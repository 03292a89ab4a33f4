#include "gpu_worker/build/cuda/kernel_name.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace ksearch {
namespace {

constexpr int kMaxDepth = 16;

absl::string_view BuiltinType(char c) {
  switch (c) {
    case 'b':
      return "bool";
    case 'c':
      return "char";
    case 'a':
      return "signed char";
    case 'h':
      return "unsigned char";
    case 's':
      return "short";
    case 't':
      return "unsigned short";
    case 'i':
      return "int";
    case 'j':
      return "unsigned";
    case 'l':
      return "long";
    case 'm':
      return "unsigned long";
    case 'x':
      return "long long";
    case 'y':
      return "unsigned long long";
    case 'f':
      return "float";
    case 'd':
      return "double";
    default:
      return "";
  }
}

// Reads the part of the Itanium C++ ABI's mangling that kernels have. Every method returns false
// where it meets something else.
class Reader {
 public:
  explicit Reader(absl::string_view symbol) : rest_(symbol) {}

  bool Encoding(std::string* name) {
    if (!absl::ConsumePrefix(&rest_, "_Z")) return false;
    return Name(name, 0);
  }

 private:
  bool Name(std::string* name, int depth) {
    if (depth > kMaxDepth) return false;
    if (!absl::ConsumePrefix(&rest_, "N")) {
      return Identifier(name) && (!StartsArguments() || Arguments(name, depth));
    }
    bool first = true;
    while (!absl::ConsumePrefix(&rest_, "E")) {
      if (StartsArguments()) {
        if (first || !Arguments(name, depth)) return false;
        continue;
      }
      std::string part;
      if (!Identifier(&part)) return false;
      absl::StrAppend(name, first ? "" : "::", part);
      first = false;
    }
    return !first;
  }

  // <decimal length> <that many characters>; internal linkage has an L before it.
  bool Identifier(std::string* name) {
    absl::ConsumePrefix(&rest_, "L");
    size_t length = 0;
    size_t digits = 0;
    while (digits < rest_.size() && digits < 4 &&
           absl::ascii_isdigit(static_cast<unsigned char>(rest_[digits]))) {
      length = 10 * length + static_cast<size_t>(rest_[digits++] - '0');
    }
    if (digits == 0 || length == 0 || length > rest_.size() - digits) return false;
    absl::string_view text = rest_.substr(digits, length);
    rest_.remove_prefix(digits + length);
    // The spelling of GCC and NVCC for an unnamed namespace.
    absl::StrAppend(name, absl::StartsWith(text, "_GLOBAL__N_") ? "(anonymous)" : text);
    return true;
  }

  bool StartsArguments() const { return absl::StartsWith(rest_, "I"); }

  // I <argument>+ E. What follows an argument that cannot be read cannot be read either.
  bool Arguments(std::string* name, int depth) {
    rest_.remove_prefix(1);
    absl::StrAppend(name, "<");
    bool first = true;
    while (!absl::ConsumePrefix(&rest_, "E")) {
      std::string argument;
      if (!Argument(&argument, depth + 1)) {
        absl::StrAppend(name, first ? "" : ", ", "...>");
        return false;
      }
      absl::StrAppend(name, first ? "" : ", ", argument);
      first = false;
    }
    absl::StrAppend(name, ">");
    return true;
  }

  bool Argument(std::string* text, int depth) {
    if (depth > kMaxDepth || rest_.empty()) return false;
    if (absl::ConsumePrefix(&rest_, "L")) return Literal(text, depth);
    return Type(text, depth);
  }

  bool Type(std::string* text, int depth) {
    if (depth > kMaxDepth || rest_.empty()) return false;
    const char c = rest_[0];
    if (c == 'P' || c == 'K' || c == 'R') {
      rest_.remove_prefix(1);
      std::string of;
      if (!Type(&of, depth + 1)) return false;
      *text = c == 'K' ? absl::StrCat("const ", of) : absl::StrCat(of, c == 'P' ? "*" : "&");
      return true;
    }
    const absl::string_view builtin = BuiltinType(c);
    if (!builtin.empty()) {
      rest_.remove_prefix(1);
      *text = std::string(builtin);
      return true;
    }
    return Name(text, depth + 1);
  }

  // <type> [n] <digits> E, after its L.
  bool Literal(std::string* text, int depth) {
    const bool is_bool = absl::StartsWith(rest_, "b");
    std::string type;
    if (!Type(&type, depth)) return false;
    const bool negative = absl::ConsumePrefix(&rest_, "n");
    const size_t end = rest_.find('E');
    if (end == absl::string_view::npos || end == 0 || end > 40) return false;
    const absl::string_view digits = rest_.substr(0, end);
    if (!std::all_of(digits.begin(), digits.end(),
                     [](char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)); })) {
      return false;
    }
    rest_.remove_prefix(end + 1);
    *text =
        is_bool ? (digits == "0" ? "false" : "true") : absl::StrCat(negative ? "-" : "", digits);
    return true;
  }

  absl::string_view rest_;
};

std::string Printable(std::string name) {
  for (char& c : name) {
    if (!absl::ascii_isprint(static_cast<unsigned char>(c))) c = '?';
  }
  if (name.size() > kMaxKernelNameBytes) {
    name.resize(kMaxKernelNameBytes - 3);
    name += "...";
  }
  return name;
}

}  // namespace

std::string KernelName(absl::string_view symbol) {
  std::string name;
  const bool whole = Reader(symbol.substr(0, 4096)).Encoding(&name);
  // "f<8, ...>": the part before the dots is usable.
  const bool usable = whole || absl::EndsWith(name, "...>");
  return Printable(usable ? name : std::string(symbol.substr(0, 4096)));
}

}  // namespace ksearch
