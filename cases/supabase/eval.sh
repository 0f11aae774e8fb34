#!/bin/sh
# Runs this suite as variables say, for who is used to them; whatever stands behind goes on to `doit run`:
#   EVAL_SCENARIO=NAME      one case instead of all
#   EVAL_BASELINE=true      each case without the skill too
#   EVAL_MODEL=MODEL        the model (suite.eval reads it itself)
#   BRAINTRUST_UPLOAD=true  the trials become rows of an experiment
set -eu
on() {
  case "$1" in
    1 | [Tt][Rr][Uu][Ee] | [Yy][Ee][Ss] | [Oo][Nn]) return 0 ;;
    "" | 0 | [Ff][Aa][Ll][Ss][Ee] | [Nn][Oo] | [Oo][Ff][Ff]) return 1 ;;
    *) echo "error: $2=$1 is neither true nor false" >&2 && exit 2 ;;
  esac
}
cd "$(dirname "$0")/../.."
if on "${BRAINTRUST_UPLOAD:-}" BRAINTRUST_UPLOAD; then set -- upload=braintrust "$@"; fi
if on "${EVAL_BASELINE:-}" EVAL_BASELINE; then set -- arm=all "$@"; fi
if [ -n "${EVAL_SCENARIO:-}" ]; then set -- "case:$EVAL_SCENARIO" "$@"; else set -- suite:supabase "$@"; fi
exec doit run "$@"
