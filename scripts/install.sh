#!/bin/sh
# install.sh: lists and installs missing Debian packages which the build needs. If all are present it
# does nothing, and needs neither root nor a network.
# install.sh sim: only packages for the simulator, without ccache: it makes a first build 15 % slower.
# install.sh deb: only packages for `make deb`.
# install.sh test: only additional packages for tests; succeeds even if it cannot install them.
# install.sh slurm: only Slurm, for tests beside it; the same.
# install.sh torchrun: only torchrun, for the test of its command; the same.
# install.sh prometheus: only Prometheus, whose package also starts it as a service; the same.
# install.sh docs: only packages for scripts/docs.sh; the same.
set -eu

sim="cmake g++ make ninja-build pkg-config
  libssl-dev zlib1g-dev
  libyaml-cpp-dev nlohmann-json3-dev libeigen3-dev libcli11-dev libpagmo-dev libboost-dev libspdlog-dev libfmt-dev"
case "${1:-}" in
  sim) packages=$sim optional= ;;
  deb) packages="dpkg-dev file" optional= ;;
  test) packages= optional="curl openmpi-bin openssl python3-grpcio python3-venv" ;;
  slurm) packages= optional="slurm-wlm slurm-client munge slurm-wlm-basic-plugins" ;;
  torchrun) packages= optional="python3-torch" ;;
  prometheus) packages= optional="prometheus" ;;
  docs) packages= optional="python3-venv" ;;
  *)
    packages="$sim ccache git libtorch-dev libgloo-dev libopenblas0-pthread
      libgrpc++-dev protobuf-compiler protobuf-compiler-grpc libprotobuf-dev prometheus-cpp-dev
      libgtest-dev libgmock-dev libcpp-httplib-dev libbrotli-dev"
    optional="libdnnl-dev"  # training is slower without it
    ;;
esac

if ! command -v dpkg-query >/dev/null 2>&1; then
  echo "install.sh: not a Debian system; see docs/reference/dependencies.md for the packages which the build needs" >&2
  exit 0
fi

missing=
needed=  # the missing packages which are not optional
for package in $optional $packages; do
  # shellcheck disable=SC2016  # the format is dpkg-query's, not the shell's
  status=$(dpkg-query -W -f='${db:Status-Status} ' "$package" 2>/dev/null || true)
  case " $status" in
    *" installed "*) ;;
    *)
      missing="$missing $package"
      case " $optional " in
        *" $package "*) ;;
        *) needed="$needed $package" ;;
      esac
      ;;
  esac
done
if [ -z "$missing" ]; then
  exit 0
fi
echo "Installing the missing system packages:$missing"

# Fails, unless all missing packages are optional.
give_up() {
  echo "install.sh: $1:$missing" >&2
  if [ -z "$needed" ]; then exit 0; fi
  exit 1
}

sudo=
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null 2>&1; then
    give_up "neither root nor sudo; run as root: apt-get install"
  fi
  sudo=sudo
fi
apt() { $sudo env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 "$@" </dev/null; }

# Recommended packages are left out: they triple the download and the build uses none of them.
# shellcheck disable=SC2086  # one argument per package
if ! { apt update && apt install -y --no-install-recommends $missing >/dev/null; }; then
  give_up "apt-get could not install"
fi
