// Prints docs/configuration.md: every field that a configuration file may have, with the comments
// of the protos.
// usage: configuration_page SET HEAD
//   SET   what `protoc --include_imports --include_source_info --descriptor_set_out` wrote
//   HEAD  the page's beginning; each line "## Title: message" of it names a root, whose table and
//         those of the messages in it follow the section's text
// Leaves out fields whose comment begins with "Set by the coordinator": users do not write them.

#include <fstream>
#include <iostream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/descriptor.pb.h"

namespace ksearch {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::SourceLocation;

// One paragraph of sentences: begins with a capital unless it begins with a name such as gRPC.
std::string Sentences(std::string text) {
  absl::RemoveExtraAsciiWhitespace(&text);
  if (text.empty()) return text;
  const bool is_name = text.size() > 1 && absl::ascii_isupper(text[1]);
  if (!is_name) text[0] = absl::ascii_toupper(text[0]);
  if (!absl::StrContains(".:?!", text.substr(text.size() - 1))) text += ".";
  return text;
}

// "docs/x.md" as a link, as seen from docs/.
std::string WithLinks(const std::string& text) {
  static const std::regex page("docs/([a-z_/-]+\\.md|suites/README\\.md)");
  return std::regex_replace(text, page, "[$1]($1)");
}

// The comment above `what` and the one behind it. A bar would end a table's cell.
template <typename T>
std::string Comment(const T& what) {
  SourceLocation location;
  if (!what.GetSourceLocation(&location)) return "";
  std::string text = Sentences(location.leading_comments);
  if (const std::string behind = Sentences(location.trailing_comments); !behind.empty()) {
    absl::StrAppend(&text, text.empty() ? "" : " ", behind);
  }
  return WithLinks(absl::StrReplaceAll(text, {{"|", "\\|"}, {"<", "&lt;"}}));
}

// In lines of at most 120 columns.
std::string Wrapped(const std::string& text) {
  std::string lines;
  size_t column = 0;
  for (const absl::string_view word : absl::StrSplit(text, ' ')) {
    const bool fits = column == 0 || column + 1 + word.size() <= 120;
    if (column > 0) lines += fits ? " " : "\n";
    column = (fits && column > 0 ? column + 1 : 0) + word.size();
    absl::StrAppend(&lines, word);
  }
  return lines;
}

bool IsWritten(const FieldDescriptor& field) {
  return !absl::StartsWith(Comment(field), "Set by the coordinator");
}

class Page {
 public:
  // `title` is the heading of the section about `root`, which Show() prints.
  void AddRoot(const Descriptor& root, const std::string& title) {
    seen_.insert(root.full_name());
    anchors_[root.name()] = absl::StrReplaceAll(absl::AsciiStrToLower(title), {{" ", "-"}});
  }

  // The table of `root`, then those of all that it holds and that has not been shown.
  void Show(const Descriptor& root) {
    Table(root);
    ShowWaiting();
  }

 private:
  std::string Link(const std::string& name) const {
    const auto root = anchors_.find(name);
    return absl::StrCat("[", name, "](#",
                        root != anchors_.end() ? root->second : absl::AsciiStrToLower(name), ")");
  }

  // How the field's value is written, in the reader's words.
  std::string Type(const FieldDescriptor& field) const {
    if (field.is_map()) return "map";
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_MESSAGE:
        if (field.message_type()->full_name() == "google.protobuf.Duration") return "duration";
        return Link(field.message_type()->name());
      case FieldDescriptor::CPPTYPE_ENUM:
        return Link(field.enum_type()->name());
      case FieldDescriptor::CPPTYPE_STRING:
        return "text";
      case FieldDescriptor::CPPTYPE_BOOL:
        return "true or false";
      case FieldDescriptor::CPPTYPE_DOUBLE:
      case FieldDescriptor::CPPTYPE_FLOAT:
        return "number";
      default:
        return "integer";
    }
  }

  void Table(const Descriptor& message) {
    std::cout << "\n| field | value | meaning |\n|---|---|---|\n";
    for (int i = 0; i < message.field_count(); ++i) {
      const FieldDescriptor& field = *message.field(i);
      if (!IsWritten(field)) continue;
      std::cout << "| `" << field.name() << "` | " << Type(field)
                << (field.is_repeated() && !field.is_map() ? ", may be repeated" : "");
      if (const auto* one = field.real_containing_oneof(); one != nullptr) {
        std::cout << ", one *" << one->name() << "*";
      }
      std::string meaning = Comment(field);
      if (meaning.empty() && field.message_type() != nullptr)
        meaning = Comment(*field.message_type());
      std::cout << " | " << meaning << " |\n";
      Await(field);
    }
  }

  void Await(const FieldDescriptor& field) {
    if (field.is_map()) return;
    if (const Descriptor* type = field.message_type();
        type != nullptr && !absl::StartsWith(type->full_name(), "google.") &&
        seen_.insert(type->full_name()).second) {
      messages_.push_back(type);
    }
    if (const EnumDescriptor* type = field.enum_type();
        type != nullptr && seen_.insert(type->full_name()).second) {
      enums_.push_back(type);
    }
  }

  void ShowWaiting() {
    while (!messages_.empty() || !enums_.empty()) {
      for (const EnumDescriptor* type : std::exchange(enums_, {})) Values(*type);
      for (const Descriptor* type : std::exchange(messages_, {})) {
        Heading(*type);
        Table(*type);
      }
    }
  }

  template <typename T>
  void Heading(const T& type) {
    std::cout << "\n### " << type.name() << "\n";
    if (const std::string comment = Comment(type); !comment.empty()) {
      std::cout << "\n" << Wrapped(comment) << "\n";
    }
  }

  void Values(const EnumDescriptor& type) {
    Heading(type);
    std::cout << "\n| value | meaning |\n|---|---|\n";
    std::set<int> shown;  // of two names for one value, only the first is shown
    for (int i = 0; i < type.value_count(); ++i) {
      const EnumValueDescriptor& value = *type.value(i);
      if (value.number() == 0 || !shown.insert(value.number()).second) continue;
      std::cout << "| `" << value.name() << "` | " << Comment(value) << " |\n";
    }
  }

  std::set<std::string> seen_;
  std::map<std::string, std::string> anchors_;  // of roots, by their names
  std::vector<const Descriptor*> messages_;
  std::vector<const EnumDescriptor*> enums_;
};

int Main(const std::string& set_path, const std::string& head_path) {
  google::protobuf::FileDescriptorSet set;
  std::ifstream in(set_path, std::ios::binary);
  google::protobuf::DescriptorPool pool;
  if (!set.ParseFromIstream(&in)) {
    std::cerr << set_path << ": no FileDescriptorSet\n";
    return 1;
  }
  for (const auto& file : set.file()) {
    if (pool.BuildFile(file) == nullptr) return 1;  // protobuf says why
  }
  std::vector<std::pair<std::string, const Descriptor*>> lines;  // with the root of a heading
  Page page;
  std::ifstream head(head_path);
  for (std::string line; std::getline(head, line);) {
    const std::vector<std::string> parts = absl::StrSplit(line, ": ");
    const Descriptor* root = nullptr;
    if (absl::StartsWith(line, "## ") && parts.size() == 2) {
      root = pool.FindMessageTypeByName(absl::StrCat("ksearch.v1.", parts[1]));
      if (root == nullptr) {
        std::cerr << head_path << ": no message " << parts[1] << "\n";
        return 1;
      }
      page.AddRoot(*root, parts[0].substr(3));
      line = parts[0];
    }
    lines.emplace_back(line, root);
  }
  const Descriptor* root = nullptr;
  for (size_t i = 0; i < lines.size(); ++i) {
    const bool ends = i + 1 == lines.size() || absl::StartsWith(lines[i + 1].first, "## ");
    if (lines[i].second != nullptr) root = lines[i].second;
    if (!ends || !lines[i].first.empty()) std::cout << lines[i].first << "\n";
    if (ends && root != nullptr) page.Show(*root);
    if (ends && i + 1 < lines.size()) std::cout << "\n";
    if (ends) root = nullptr;
  }
  return std::cout.flush() ? 0 : 1;
}

}  // namespace
}  // namespace ksearch

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: configuration_page SET HEAD\n";
    return 2;
  }
  return ksearch::Main(argv[1], argv[2]);
}
