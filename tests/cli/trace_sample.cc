// Prints the trace of a simulated run for Perfetto (perfetto_test.py).
#include <cstdio>
#include <string>

#include "cli/chrome_trace.h"
#include "tests/cli/played_timeline.h"

int main() {
  const std::string trace = ksearch::ChromeTrace("run \"1\"", ksearch::PlayedTimeline());
  return std::fwrite(trace.data(), 1, trace.size(), stdout) == trace.size() ? 0 : 1;
}
