#include "cli/completion.h"

#include <algorithm>
#include <functional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "common/log.h"

namespace ksearch {
namespace {

constexpr size_t kMostText = 80;  // of a description

// The first sentence, in the single quotes of a POSIX shell.
std::string Quoted(const std::string& text) {
  const size_t end = std::min({text.find('\n'), text.find("; "), kMostText});
  return absl::StrCat("'", absl::StrReplaceAll(text.substr(0, end), {{"'", "'\\''"}}), "'");
}

// The options of a program or command at `path` ("", "task", "task new"); parents come first.
using Visit = std::function<void(const std::string& path, const CommandWords& command)>;
void Walk(const std::string& path, const CommandWords& command, const Visit& visit) {
  visit(path, command);
  for (const CommandWords& below : command.commands) {
    Walk(absl::StrCat(path, path.empty() ? "" : " ", below.name), below, visit);
  }
}

// The program's flags may follow every command.
std::vector<CommandWords::Flag> FlagsOf(const CommandWords& program, const std::string& path,
                                        const CommandWords& command) {
  std::vector<CommandWords::Flag> flags = command.flags;
  if (!path.empty()) flags.insert(flags.end(), program.flags.begin(), program.flags.end());
  return flags;
}

// Shell code that sets `place` to the command that the words before the cursor name. (In zsh `path`
// is where programs are looked for.)
std::string PathLoop(const CommandWords& program, absl::string_view words) {
  std::vector<std::string> steps;
  Walk("", program, [&](const std::string& path, const CommandWords& command) {
    for (const CommandWords& below : command.commands) {
      steps.push_back(absl::StrCat("'", path, "|", below.name, "'"));
    }
  });
  return absl::StrCat("  local place='' word\n  for word in ", words,
                      "; do\n    case \"$place|$word\" in\n      ", absl::StrJoin(steps, "|"),
                      ") place=\"${place:+$place }$word\" ;;\n    esac\n  done\n");
}

std::string BashScript(const CommandWords& program) {
  std::string cases;
  Walk("", program, [&](const std::string& path, const CommandWords& command) {
    std::vector<std::string> words;
    for (const CommandWords& below : command.commands) words.push_back(below.name);
    for (const CommandWords::Flag& flag : FlagsOf(program, path, command)) {
      words.insert(words.end(), flag.names.begin(), flag.names.end());
    }
    absl::StrAppend(&cases, "    '", path, "') words='", absl::StrJoin(words, " "), "' ;;\n");
  });
  const std::string& name = program.name;
  return absl::StrCat("# bash completion of ", name, ": source <(", name, " completion bash)\n_",
                      name, "() {\n", PathLoop(program, "\"${COMP_WORDS[@]:1:COMP_CWORD-1}\""),
                      "  local words=''\n  case \"$place\" in\n", cases,
                      "  esac\n  COMPREPLY=($(compgen -W \"$words\" -- "
                      "\"${COMP_WORDS[COMP_CWORD]}\"))\n}\ncomplete -o default -F _",
                      name, " ", name, "\n");
}

std::string ZshScript(const CommandWords& program) {
  std::string cases;
  const auto item = [](const std::string& name, const std::string& text) {
    return absl::StrCat(
        "      ", Quoted(absl::StrCat(absl::StrReplaceAll(name, {{":", "\\:"}}), ":", text)), "\n");
  };
  Walk("", program, [&](const std::string& path, const CommandWords& command) {
    absl::StrAppend(&cases, "    '", path, "') items=(\n");
    for (const CommandWords& below : command.commands) {
      absl::StrAppend(&cases, item(below.name, below.text));
    }
    for (const CommandWords::Flag& flag : FlagsOf(program, path, command)) {
      for (const std::string& name : flag.names) absl::StrAppend(&cases, item(name, flag.text));
    }
    absl::StrAppend(&cases, "    ) ;;\n");
  });
  const std::string& name = program.name;
  return absl::StrCat("#compdef ", name, "\n# zsh completion of ", name, ": source <(", name,
                      " completion zsh)\n_", name, "() {\n",
                      PathLoop(program, "\"${(@)words[2,CURRENT-1]}\""),
                      "  local -a items\n  case \"$place\" in\n", cases, "  esac\n  _describe '",
                      name, "' items || _files\n}\ncompdef _", name, " ", name, "\n");
}

std::string FishScript(const CommandWords& program) {
  const std::string& name = program.name;
  std::string script = absl::StrCat(
      "# fish completion of ", name, ": ", name, " completion fish | source\nfunction __", name,
      "_path\n  set -l path ''\n  for word in (commandline -opc)[2..-1]\n    switch "
      "\"$path|$word\"\n      case");
  std::string lines;
  Walk("", program, [&](const std::string& path, const CommandWords& command) {
    const std::string start =
        absl::StrCat("complete -c ", name, " -n \"test (__", name, "_path) = '", path, "'\"");
    for (const CommandWords& below : command.commands) {
      absl::StrAppend(&script, " '", path, "|", below.name, "'");
      absl::StrAppend(&lines, start, " -a ", below.name, " -d ", Quoted(below.text), "\n");
    }
    for (const CommandWords::Flag& flag : FlagsOf(program, path, command)) {
      std::string names;
      for (const std::string& each : flag.names) {
        const bool is_long = each.rfind("--", 0) == 0;
        absl::StrAppend(&names, is_long ? " -l " : " -s ", each.substr(is_long ? 2 : 1));
      }
      absl::StrAppend(&lines, start, names, " -d ", Quoted(flag.text), "\n");
    }
  });
  absl::StrAppend(
      &script,
      "\n        set path (string trim \"$path $word\")\n    end\n  end\n  echo \"$path\""
      "\nend\n",
      lines);
  return script;
}

}  // namespace

std::vector<std::string> CompletionShells() { return {"bash", "zsh", "fish"}; }

std::string CompletionScript(absl::string_view shell, const CommandWords& program) {
  if (shell == "bash") return BashScript(program);
  if (shell == "zsh") return ZshScript(program);
  CHECK(shell == "fish");
  return FishScript(program);
}

}  // namespace ksearch
