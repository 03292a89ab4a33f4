#include "coordinator/proposer/reply_form_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/language.h"
#include "coordinator/proposer/code_prompt_text.h"

namespace ksearch {
namespace {

constexpr absl::string_view kSearchReplace =
    R"(Say in one or two sentences what you change. Then give the changes to the program shown, each as a block:

<patch path="{path}">
<<<<<<< SEARCH
lines of the file as they stand, word for word, enough of them to be found once
=======
the lines that take their place
>>>>>>> REPLACE
</patch>

One <patch> holds the blocks of one file, in the order of the file; blocks do not overlap. Leave the part below
======= empty to remove lines. A new file is one block with nothing between SEARCH and =======. Files that you
do not name stay as they are. If most of a file changes, send it whole instead, as
<file path="{path}">...</file>. Nothing follows the last block.
)";

constexpr absl::string_view kUnifiedDiff =
    R"(Say in one or two sentences what you change. Then give the changes to the program shown as one unified diff:

```diff
--- a/{path}
+++ b/{path}
@@ -10,4 +10,5 @@
 a line that stays
-a line that goes
+a line that comes
+another one
 a line that stays
```

Lines that stay or go must be those of the file, word for word, with at least two that stay around each change.
Line numbers need not be exact. A new file has --- /dev/null. Files that the diff does not name stay as they are.
If most of a file changes, send it whole instead, as <file path="{path}">...</file>. Nothing follows the diff.
)";

}  // namespace

std::string ReplyFormText(const PromptFacts& facts, v1::ReplyForm form) {
  absl::string_view words;
  if (form == v1::REPLY_FORM_SEARCH_REPLACE) words = kSearchReplace;
  if (form == v1::REPLY_FORM_UNIFIED_DIFF) words = kUnifiedDiff;
  if (words.empty()) return CodeFormatText(facts);
  return absl::StrReplaceAll(words, {{"{path}", FactsOf(facts.language).main_path}});
}

}  // namespace ksearch
