// Forms of programs: which texts have one, and what is built from them.
#include "common/program_form.h"

#include "gtest/gtest.h"

namespace ksearch {
namespace {

v1::Task TaskWithForm() {
  v1::Task task;
  v1::ProgramForm* const form = task.add_forms();
  form->set_language(v1::LANGUAGE_PYTHON);
  form->add_begins("class New(");
  form->add_begins_not("def run(");
  form->set_suffix("# entry\n");
  return task;
}

v1::Sources Program(const std::string& text) {
  v1::Sources program;
  program.set_language(v1::LANGUAGE_PYTHON);
  program.add_files()->set_path("mine.py");
  program.mutable_files(0)->set_content(text);
  return program;
}

TEST(ProgramFormTest, TellsByLinesThatBeginSo) {
  const v1::Task task = TaskWithForm();
  EXPECT_NE(FormOf(task, Program("import x\nclass New(x.M): pass")), nullptr);
  EXPECT_EQ(FormOf(task, Program("  class New(x.M): pass")), nullptr);
  EXPECT_EQ(FormOf(task, Program("class Newer: pass")), nullptr);
  EXPECT_EQ(FormOf(task, Program("class New(M): pass\ndef run(x): pass")), nullptr);
  v1::Sources other = Program("class New(M): pass");
  other.set_language(v1::LANGUAGE_CPP);
  EXPECT_EQ(FormOf(task, other), nullptr);
  v1::Sources several = Program("class New(M): pass");
  several.add_files()->set_path("more.py");
  EXPECT_EQ(FormOf(task, several), nullptr);
  EXPECT_EQ(FormOf(v1::Task(), Program("class New(M): pass")), nullptr);
}

TEST(ProgramFormTest, IsBuiltWithTheTasksEntry) {
  v1::Task task = TaskWithForm();
  const v1::Sources appended = WithTaskEntry(task, Program("class New(M): pass"));
  ASSERT_EQ(appended.files_size(), 1);
  EXPECT_EQ(appended.files(0).path(), "mine.py");
  EXPECT_EQ(appended.files(0).content(), "class New(M): pass\n# entry\n");
  v1::ProgramForm* const form = task.mutable_forms(0);
  form->clear_suffix();
  form->set_path("theirs.py");
  form->add_files()->set_path("kernel.py");
  const v1::Sources beside = WithTaskEntry(task, Program("class New(M): pass"));
  ASSERT_EQ(beside.files_size(), 2);
  EXPECT_EQ(beside.files(0).path(), "kernel.py");
  EXPECT_EQ(beside.files(1).path(), "theirs.py");
  EXPECT_EQ(beside.files(1).content(), "class New(M): pass");
  EXPECT_EQ(WithTaskEntry(task, Program("def run(x): pass")).files(0).content(),
            "def run(x): pass");
}

}  // namespace
}  // namespace ksearch
