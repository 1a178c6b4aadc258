# Resumable trainings, for results.sh and meta_adapt.sh, which source this file.
# shellcheck shell=bash disable=SC2154  # yard is the caller's

# train FOLDER RULE CONFIG OPTION...: trains CONFIG, or resumes it, unless it is finished. RULE is a further input
# file, or empty. Rejects a training from other input files, including those named in CONFIG and its initial
# checkpoint.
train() {
  local folder=$1 rule=$2 from
  shift 2
  # shellcheck disable=SC2046  # one word per file
  from=$(cat "$1" ${rule:+"$rule"} $(grep -oE '[A-Za-z0-9_./-]+[.](yaml|csv)' "$1" | sort -u | xargs -r ls -d 2>/dev/null) <(printf '%s\n' "$@") \
    $(printf '%s/manifest.json\n' "${@#start=}" | xargs -r ls -d 2>/dev/null) | sha256sum)
  if [[ -d $folder && $(cat "$folder.from" 2>/dev/null) != "$from" ]]; then
    echo "${0##*/}: $folder: expected a training of $1${rule:+ and $rule} as they are now, got another training; remove it" >&2
    exit 2
  fi
  mkdir -p "$(dirname "$folder")"
  echo "$from" >"$folder.from"
  if [[ -f $folder/done ]]; then return; fi
  if [[ -d $folder/checkpoints/training_state ]]; then
    "$yard" train --resume "$folder" || return
  else
    rm -rf "$folder"
    "$yard" train "$@" --out "$folder" || return
  fi
  touch "$folder/done"
}
