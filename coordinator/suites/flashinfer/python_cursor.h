#ifndef KSEARCH_COORDINATOR_SUITES_FLASHINFER_PYTHON_CURSOR_H_
#define KSEARCH_COORDINATOR_SUITES_FLASHINFER_PYTHON_CURSOR_H_

#include <cstddef>

#include "absl/strings/string_view.h"

namespace ksearch {

// A place in the text of a Python file, which can move past a whole comment or string. Lines end
// with '\n'. The text must outlive the cursor.
class PythonCursor {
 public:
  enum class StringEnd {
    kClosed,
    kUnclosed,
    // A field of an f-string was not understood: what is allowed there differs between versions of
    // Python. The cursor is somewhere within the string.
    kNotUnderstood,
  };

  explicit PythonCursor(absl::string_view text, size_t at = 0) : text_(text), at_(at) {}

  bool AtEnd() const { return at_ >= text_.size(); }
  // Requires !AtEnd().
  char Peek() const { return text_[at_]; }
  absl::string_view Rest() const { return text_.substr(at_); }
  // The line of the cursor; the line in which it was made is 1.
  int line() const { return line_; }

  // Moves past `bytes` bytes, or to the end.
  void Advance(size_t bytes = 1);
  // Moves to the end of the line if a comment begins here, else returns false.
  bool SkipComment();
  // Whether a string begins here; its prefix, as the 'f' of f'', lies before the cursor.
  bool AtString() const { return !AtEnd() && (Peek() == '"' || Peek() == '\''); }
  // Moves behind the string that begins here. Requires AtString().
  StringEnd SkipString() { return SkipString(0); }

 private:
  StringEnd SkipString(size_t depth);
  // Moves past the rest of a field of an f-string, from behind its '{' to behind its '}'. `quote`
  // ends the string. Returns false if the field is not understood.
  bool SkipField(absl::string_view quote, size_t depth);
  // Whether the letters before the quote at the cursor say that the string has fields.
  bool StringHasFields() const;

  const absl::string_view text_;
  size_t at_;
  int line_ = 1;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_FLASHINFER_PYTHON_CURSOR_H_
