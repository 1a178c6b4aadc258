#!/usr/bin/env bash
# fetch_traces.sh [FOLDER [PREFIX...]]: lists the sources and licences of the public traces which tables and
# tests use. With a FOLDER, downloads them.
#
#   scripts/fetch_traces.sh                        prints a table, downloads nothing
#   scripts/fetch_traces.sh --files                the same with one line per file, sha256 and address
#   scripts/fetch_traces.sh traces                 downloads all, about 105 MB, into traces/
#   scripts/fetch_traces.sh traces philly-2017     downloads those whose names start with philly-2017
#   export YARD_TRACES=$PWD/traces                 where tests and experiments/*.yaml look for them
#
# Each is the publisher's file at one commit, compressed here with gzip; scripts/traces.tsv has the sha256
# of its uncompressed content. Correct existing files are kept. Needs curl, gzip, sha256sum (or shasum).
# Complying with the licences is up to you: CC-BY-4.0 requires the attribution in docs/reference/public-traces.md.
# MIRROR=URL replaces https://raw.githubusercontent.com (URL/REPOSITORY/COMMIT/PATH).
set -euo pipefail
cd_from=$PWD
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
list=$here/traces.tsv
mirror=${MIRROR:-https://raw.githubusercontent.com}

usage() { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"; }

sha256_of() {  # of standard input
  if command -v sha256sum > /dev/null; then sha256sum; else shasum -a 256; fi | cut -d' ' -f1
}

# What is inside is what the list has the hash of; a .tar.gz is a file of its own.
unpacked() {  # FILE NAME
  case $2 in *.tar.gz) cat "$1" ;; *) gzip -dc "$1" ;; esac
}

table() {
  printf '%-24s %5s %11s  %-12s %s\n' folder files bytes licence repository
  awk -F'\t' 'NR > 1 { split($1, part, "/"); key = part[1] "\t" $4 "\t" $7; n[key]++; bytes[key] += $2 }
    END { for (key in n) print key "\t" n[key] "\t" bytes[key] }' "$list" | sort |
    while IFS=$'\t' read -r folder repository licence files bytes; do
      printf '%-24s %5s %11s  %-12s %s\n' "$folder" "$files" "$bytes" "$licence" "$repository"
    done
}

case ${1:-} in
  -h | --help)
    usage
    exit
    ;;
  "")
    table
    echo
    echo "nothing was downloaded: scripts/fetch_traces.sh FOLDER downloads, --files lists every file"
    exit
    ;;
  --files)
    awk -F'\t' -v mirror="$mirror" \
      'NR > 1 { print $1 "\t" $3 "\t" mirror "/" $4 "/" $5 "/" $6 "\t" $7 }' "$list"
    exit
    ;;
  -*)
    echo "fetch_traces.sh: expected a folder, --files or --help, got '$1'" >&2
    exit 2
    ;;
esac

folder=$1
shift
case $folder in /*) ;; *) folder=$cd_from/$folder ;; esac
command -v curl > /dev/null || {
  echo "fetch_traces.sh: expected curl on the PATH, got none: install it" >&2
  exit 2
}
part=$(mktemp "${TMPDIR:-/tmp}/trace.XXXXXX")
trap 'rm -f "$part" "$part.gz"' EXIT

fetched=0 kept=0 failed=0
while IFS=$'\t' read -r file _ sha repository commit path _; do
  if [ "$file" = file ]; then continue; fi  # the line of names
  wanted=$((! $#))
  for prefix in "$@"; do
    case $file in "$prefix"*) wanted=1 ;; esac
  done
  if [ "$wanted" -eq 0 ]; then continue; fi
  out=$folder/$file
  if [ -f "$out" ] && [ "$(unpacked "$out" "$file" | sha256_of)" = "$sha" ]; then
    kept=$((kept + 1))
    continue
  fi
  address=$mirror/$repository/$commit/${path// /%20}
  if ! curl --fail --location --silent --show-error --retry 3 --output "$part" "$address"; then
    echo "$file: could not be downloaded from $address" >&2
    failed=$((failed + 1))
    continue
  fi
  if [ "$(sha256_of < "$part")" != "$sha" ]; then
    echo "$file: expected sha256 $sha, got $(sha256_of < "$part") from $address" >&2
    failed=$((failed + 1))
    continue
  fi
  mkdir -p "$(dirname "$out")"
  case $file in
    *.tar.gz) cp "$part" "$out" ;;
    *)
      gzip -9n < "$part" > "$part.gz"
      mv "$part.gz" "$out"
      ;;
  esac
  fetched=$((fetched + 1))
  echo "$file"
done < "$list"
if [ $((fetched + kept + failed)) -eq 0 ]; then
  echo "fetch_traces.sh: expected the start of a name in scripts/traces.tsv, got: $*" >&2
  exit 2
fi
echo "$fetched downloaded, $kept kept, $failed failed: export YARD_TRACES=$folder"
[ "$failed" -eq 0 ]
