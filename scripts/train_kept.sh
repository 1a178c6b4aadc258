# Trainings that are kept, for results.sh and meta_adapt.sh, which source it.
# shellcheck shell=bash disable=SC2154  # yard is the caller's

# Trains what a configuration says, or goes on with it, unless that is done: FOLDER RULE CONFIG OPTION... RULE: a
# file that decides, too, or none. What was trained from other files, those that the configuration names and the
# checkpoint that it begins with among them, is not taken for it.
train() {
  local folder=$1 rule=$2 from
  shift 2
  # shellcheck disable=SC2046  # one word a file
  from=$(cat "$1" ${rule:+"$rule"} $(grep -oE '[A-Za-z0-9_./-]+[.](yaml|csv)' "$1" | sort -u | xargs -r ls -d 2>/dev/null) <(printf '%s\n' "$@") \
    $(printf '%s/manifest.json\n' "${@#start=}" | xargs -r ls -d 2>/dev/null) | sha256sum)
  if [[ -d $folder && $(cat "$folder.from" 2>/dev/null) != "$from" ]]; then
    echo "${0##*/}: $folder: expected what $1${rule:+ and $rule} say now, got another training; remove it" >&2
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
