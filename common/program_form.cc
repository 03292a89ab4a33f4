#include "common/program_form.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace ksearch {

bool IsOfForm(const v1::ProgramForm& form, absl::string_view text) {
  bool is_of_form = false;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const auto begins_so = [&](const std::string& beginning) {
      return absl::StartsWith(line, beginning);
    };
    if (std::any_of(form.begins_not().begin(), form.begins_not().end(), begins_so)) return false;
    is_of_form |= std::any_of(form.begins().begin(), form.begins().end(), begins_so);
  }
  return is_of_form;
}

const v1::ProgramForm* FormOf(const v1::Task& task, const v1::Sources& program) {
  if (program.files_size() != 1) return nullptr;
  for (const v1::ProgramForm& form : task.forms()) {
    if (form.language() == program.language() && IsOfForm(form, program.files(0).content())) {
      return &form;
    }
  }
  return nullptr;
}

v1::Sources WithTaskEntry(const v1::Task& task, const v1::Sources& program) {
  const v1::ProgramForm* const form = FormOf(task, program);
  if (form == nullptr) return program;
  v1::Sources whole;
  whole.set_language(program.language());
  *whole.mutable_files() = form->files();
  v1::SourceFile* const file = whole.add_files();
  file->set_path(form->path().empty() ? program.files(0).path() : form->path());
  const std::string& text = program.files(0).content();
  const bool needs_line_end = !form->suffix().empty() && !absl::EndsWith(text, "\n");
  file->set_content(absl::StrCat(text, needs_line_end ? "\n" : "", form->suffix()));
  return whole;
}

}  // namespace ksearch
