#!/usr/bin/env bash
# docs/configuration.md is what the protos' comments make of it now.
# usage: configuration_page.sh <docs/configuration.md> <the page as made now>
diff -u "$1" "$2" && exit 0
echo "out of date: cmake --build build/dev --target configuration_page"
exit 1
