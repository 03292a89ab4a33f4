// Prints the report of a run whose every text is hostile, for a browser to open.
#include <cstdio>

#include "coordinator/dashboard/report.h"
#include "tests/coordinator/dashboard/hostile_run.h"

int main() {
  const auto html = ksearch::dashboard::MakeReport(ksearch::dashboard::AnswerOfHostileRun, "r",
                                                   int64_t{1} << 20, absl::UnixEpoch());
  if (!html.ok()) {
    std::fprintf(stderr, "%s\n", html.status().ToString().c_str());
    return 1;
  }
  return std::fwrite(html->data(), 1, html->size(), stdout) == html->size() ? 0 : 1;
}
