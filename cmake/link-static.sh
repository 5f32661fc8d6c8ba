#!/bin/sh
# Runs a link command with the static twin of each library of Abseil, Boost, protobuf and yaml-cpp, where the system has it. Their shared
# ones have so many symbols to bind that a short command spends half of its time before main().
set -eu
for argument; do
  shift
  twin=
  case $argument in
    */libabsl_*.so* | */libboost_*.so* | */libprotobuf.so* | */libyaml-cpp.so*) twin=${argument%%.so*}.a ;;
  esac
  if [ -n "$twin" ] && [ -f "$twin" ]; then argument=$twin; fi
  set -- "$@" "$argument"
done
exec "$@"
