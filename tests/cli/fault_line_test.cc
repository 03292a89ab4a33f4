#include "cli/task/fault_line.h"

#include "gtest/gtest.h"

namespace ksearch {
namespace {

TEST(FaultLineTest, TracebacksAreWhatWasRaised) {
  EXPECT_EQ(FaultLine("the reference fails on workload a: Traceback (most recent call last):\n"
                      "  File \"reference.py\", line 2, in <module>\n"
                      "    for _ in range(5): os.fork()\n"
                      "                       ^^^^^^^^^\n"
                      "OSError: [Errno 38] Function not implemented"),
            "the reference fails on workload a: OSError: [Errno 38] Function not implemented");
  EXPECT_EQ(FaultLine("Traceback (most recent call last):\n  File \"a\"\nKeyError: 1\n\n"
                      "During handling of it:\n\nTraceback (most recent call last):\n  File \"b\"\n"
                      "ValueError: 2\nthree\n"),
            "KeyError: 1 During handling of it: ValueError: 2 three");
}

TEST(FaultLineTest, OtherMessagesKeepTheirWords) {
  EXPECT_EQ(FaultLine("a.json:1: name: is missing"), "a.json:1: name: is missing");
  EXPECT_EQ(FaultLine("first\r\n  second\n"), "first second");
  EXPECT_EQ(FaultLine(""), "");
}

}  // namespace
}  // namespace ksearch
