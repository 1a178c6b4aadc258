#!/bin/sh
# Installs packages for tests: Debian packages, and Python packages into build/venv. Reinstalls the
# latter only if tests/requirements.txt has changed. If it cannot install them, it prints the reason
# and succeeds: tests that need them are skipped with the reason. scripts/test.sh uses the packages.
set -u
cd "$(dirname "$0")/.." || exit 1
venv=build/venv

scripts/install.sh test

# Includes the version of Python: packages are installed for one version.
want=$( (cat tests/requirements.txt && python3 --version) 2>/dev/null | cksum)
if [ "$(cat "$venv/installed" 2>/dev/null)" = "$want" ]; then exit 0; fi

skip() {
  rm -rf "$venv"
  echo "test_packages.sh: $1: tests that use onnxruntime and tensorboard are skipped" >&2
  exit 0
}
command -v python3 >/dev/null 2>&1 || skip "no python3"
echo "Installing the Python packages of tests/requirements.txt into $venv"
rm -rf "$venv"
python3 -m venv "$venv" >/dev/null || skip "python3 -m venv failed"
"$venv/bin/pip" install --quiet --disable-pip-version-check --retries 1 --timeout 15 \
  --requirement tests/requirements.txt </dev/null || skip "pip failed (offline?)"
echo "$want" >"$venv/installed"
