#!/bin/sh
# docs.sh: builds the documents as a web site in build/site, and fails on a broken link. Installs
# MkDocs into build/docs-venv; reinstalls it only if docs/requirements.txt has changed.
set -eu
cd "$(dirname "$0")/.."
venv=build/docs-venv

scripts/install.sh docs
# Includes the version of Python: packages are installed for one version.
want=$( (cat docs/requirements.txt && python3 --version) | cksum)
if [ "$(cat "$venv/installed" 2>/dev/null)" != "$want" ]; then
  echo "Installing the Python packages of docs/requirements.txt into $venv"
  rm -rf "$venv"
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check --requirement docs/requirements.txt </dev/null
  echo "$want" >"$venv/installed"
fi
# Not --quiet: it turns --strict off.
"$venv/bin/mkdocs" build --strict --config-file mkdocs.yml
echo "build/site/index.html"
