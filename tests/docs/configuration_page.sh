#!/usr/bin/env bash
# Checks that docs/configuration.md is up to date with the comments of the protos.
# usage: configuration_page.sh <docs/configuration.md> <the page as made now>
diff -u "$1" "$2" && exit 0
echo "out of date: cmake --build build/dev --target configuration_page"
exit 1
