#ifndef KSEARCH_TESTS_AUTOSCALER_PROGRAM_FOLDER_H_
#define KSEARCH_TESTS_AUTOSCALER_PROGRAM_FOLDER_H_

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace ksearch {

// A folder with shell scripts that a test writes to replace real programs.
class ProgramFolder {
 public:
  ProgramFolder() : path_(testing::TempDir() + "programs.XXXXXX") {
    EXPECT_NE(::mkdtemp(path_.data()), nullptr);
  }
  ~ProgramFolder() { std::filesystem::remove_all(path_); }
  ProgramFolder(const ProgramFolder&) = delete;
  ProgramFolder& operator=(const ProgramFolder&) = delete;

  const std::string& path() const { return path_; }
  // "$F" in `script` is the folder.
  std::string Write(const std::string& name, const std::string& script) const {
    const std::string file = path_ + "/" + name;
    std::ofstream(file) << "#!/bin/sh\nF=" << path_ << "\n" << script;
    ::chmod(file.c_str(), 0755);
    return file;
  }
  std::string Read(const std::string& name) const {
    std::stringstream text;
    text << std::ifstream(path_ + "/" + name).rdbuf();
    return text.str();
  }

 private:
  std::string path_;
};

}  // namespace ksearch

#endif  // KSEARCH_TESTS_AUTOSCALER_PROGRAM_FOLDER_H_
