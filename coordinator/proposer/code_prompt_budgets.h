#ifndef KSEARCH_COORDINATOR_PROPOSER_CODE_PROMPT_BUDGETS_H_
#define KSEARCH_COORDINATOR_PROPOSER_CODE_PROMPT_BUDGETS_H_

namespace ksearch {

// Budgets in tokens of the parts that all prompts for a program have, whatever the strategy.
struct CodePromptBudgets {
  static constexpr int kDefinition = 8000;
  static constexpr int kHeader = 6000;
  static constexpr int kWorkloads = 4000;
  static constexpr int kReference = 8000;
  // A program is at most 256 KiB, that is 64k tokens, and is never cut unless two of that size
  // meet.
  static constexpr int kCode = 66000;
  static constexpr int kPerformance = 4000;
  static constexpr int kPacket = 2000;  // a packet is at most 6 KiB
  static constexpr int kFailure = 4000;
  static constexpr int kComplaint = 5000;  // 8 KiB of the answer, and its fault
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PROPOSER_CODE_PROMPT_BUDGETS_H_
