#!/usr/bin/env bash
# Checks for American spelling, with a list of British stems that have come up. Leaves out tasks and
# results, because a task's id is a hash of its content and a result is a record, and two words of
# stored results and tables, CANCELLED (also gRPC's spelling) and LABELLED. Prints every breach as
# file:line:text; exits with 1 if there is any.
# usage: american_spelling.sh <source root>
set -euo pipefail
cd "$1"

stems=(
  {amorti,authori,capitali,categori,characteri,customi,emphasi,factori,finali,generali,initiali,locali}s
  {materiali,maximi,memori,minimi,moderni,neutrali,normali,optimi,organi,paralleli,penali,prioriti}s
  {quanti,randomi,recogni,saniti,seriali,speciali,standardi,stabili,summari,synchroni,tokeni,utili}s
  {vectori,virtuali,visuali}s
)
pattern="($(IFS='|'; echo "${stems[*]}"))(e|es|ed|er|ing|ation|ations|able)\b"
pattern+='|\banalys(e|ed|ing)\b|\brealis(e|ed|es|ing)\b|(behavi|col|fav|hon|neighb)our'
pattern+='|(label|model|travel|dial|tunnel|signal)l(ed|ing)\b|(acknowledg|judg)ement|\bartefact|\bcatalogue'
pattern+='|\b(centre|defence|grey|learnt|misspelt|spelt|towards|amongst|whilst|programme|licence|fulfil)\b'

found=$(grep -rnIiE "$pattern" \
          --include='*.h' --include='*.cc' --include='*.cu' --include='*.cuh' --include='*.py' \
          --include='*.proto' --include='*.sh' --include='*.md' --include='*.txt' \
          --include='*.textproto' --include='*.js' --include='*.html' --include='*.css' \
          README.md CONVENTIONS.md bench cli common configs coordinator deploy docs gpu_worker proto tests \
          2>/dev/null |
        grep -vE '^(configs/tasks|tests/bad_candidates|tests/style/american_spelling)|LABELLED' || true)
if [ -n "$found" ]; then
  echo "American spelling, please (optimize, color, behavior, labeled, dialed):"
  echo "$found"
  exit 1
fi
