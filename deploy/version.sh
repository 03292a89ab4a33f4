#!/usr/bin/env bash
# Prints the version of this tree, in the form that Python's packages use too (PEP 440):
#   1.2.0                  the commit has the tag v1.2.0
#   1.2.0.post3+g0123abc   three commits after it
#   0.1.0.dev0+g0123abc    no release is tagged yet; the number is that of CMakeLists.txt
#   0.1.0                  an unpacked archive, without git
# ".dirty" at the end: files differ from the commit.
set -euo pipefail
cd "$(dirname "$0")/.."

number=$(sed -n 's/^project(ksearch VERSION \([0-9][0-9.]*\).*/\1/p' CMakeLists.txt)
# Only a repository whose top is this tree: an archive may be unpacked inside another project.
if [ "$(git rev-parse --show-cdup 2>/dev/null || echo none)" != "" ]; then
  echo "$number"
  exit 0
fi
dirty=$([ -z "$(git status --porcelain --untracked-files=no)" ] || echo .dirty)
if described=$(git describe --tags --long --match 'v[0-9]*' 2>/dev/null); then
  commit=${described##*-g}
  described=${described%-g*}
  since=${described##*-}
  released=${described%-*}
  released=${released#v}
  if [ "$since" = 0 ] && [ -z "$dirty" ]; then
    echo "$released"
  else
    echo "$released.post$since+g$commit$dirty"
  fi
else
  echo "$number.dev0+g$(git rev-parse --short=7 HEAD)$dirty"
fi
