#include "gpu_worker/build/cuda/sass_facts.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace ksearch {
namespace {

constexpr size_t kMaxFunctions = 256;
constexpr size_t kMaxSymbolBytes = 4096;

// The mnemonic of "        /*0010*/   @!P0 LDG.E.128 R4, desc[UR4][R2.64] ;  /* 0x... */"; empty
// for lines without an instruction.
absl::string_view Mnemonic(absl::string_view line) {
  line = absl::StripLeadingAsciiWhitespace(line);
  if (!absl::ConsumePrefix(&line, "/*")) return "";
  size_t digits = 0;
  while (digits < line.size() && absl::ascii_isxdigit(static_cast<unsigned char>(line[digits]))) {
    ++digits;
  }
  // The second half of an encoding is "/* 0x... */".
  if (digits < 4) return "";
  line.remove_prefix(digits);
  if (!absl::ConsumePrefix(&line, "*/")) return "";
  line = absl::StripLeadingAsciiWhitespace(line);
  if (absl::StartsWith(line, "@")) {  // a predicate
    line.remove_prefix(std::min(line.find(' '), line.size()));
    line = absl::StripLeadingAsciiWhitespace(line);
  }
  size_t end = 0;
  while (end < line.size() && (absl::ascii_isalnum(static_cast<unsigned char>(line[end])) ||
                               line[end] == '.' || line[end] == '_')) {
    ++end;
  }
  return line.substr(0, end);
}

void Count(absl::string_view mnemonic, v1::SassFacts* facts) {
  const absl::string_view name = mnemonic.substr(0, mnemonic.find('.'));
  const bool wide = absl::StrContains(mnemonic, ".128") || absl::StrContains(mnemonic, ".256");
  const auto add = [facts](auto get, auto set) { (facts->*set)((facts->*get)() + 1); };
  using F = v1::SassFacts;
  add(&F::instructions, &F::set_instructions);
  if (absl::EndsWith(name, "MMA")) {
    add(&F::tensor, &F::set_tensor);
    if (absl::EndsWith(name, "GMMA") || absl::StartsWith(name, "UTC")) {
      add(&F::warpgroup_tensor, &F::set_warpgroup_tensor);
    }
  } else if (name == "LDG") {
    add(&F::global_loads, &F::set_global_loads);
    if (wide) add(&F::wide_global_loads, &F::set_wide_global_loads);
  } else if (name == "STG") {
    add(&F::global_stores, &F::set_global_stores);
    if (wide) add(&F::wide_global_stores, &F::set_wide_global_stores);
  } else if (name == "LDGSTS") {
    add(&F::async_copies, &F::set_async_copies);
  } else if (name == "UTMALDG" || name == "UTMASTG" || name == "UTMAREDG" || name == "UBLKCP" ||
             name == "UBLKRED") {
    add(&F::bulk_copies, &F::set_bulk_copies);
  } else if (name == "LDSM") {
    add(&F::matrix_loads, &F::set_matrix_loads);
  } else if (name == "LDL") {
    add(&F::local_loads, &F::set_local_loads);
  } else if (name == "STL") {
    add(&F::local_stores, &F::set_local_stores);
  }
}

}  // namespace

std::map<std::string, v1::SassFacts> CountSass(absl::string_view listing) {
  std::map<std::string, v1::SassFacts> functions;
  v1::SassFacts* current = nullptr;
  for (absl::string_view line : absl::StrSplit(listing, '\n')) {
    absl::string_view heading = absl::StripAsciiWhitespace(line);
    if (absl::ConsumePrefix(&heading, "Function :")) {
      heading = absl::StripAsciiWhitespace(heading);
      current = functions.size() < kMaxFunctions && heading.size() <= kMaxSymbolBytes
                    ? &functions[std::string(heading)]
                    : nullptr;
      continue;
    }
    const absl::string_view mnemonic = Mnemonic(line);
    if (current != nullptr && !mnemonic.empty()) Count(mnemonic, current);
  }
  return functions;
}

}  // namespace ksearch
