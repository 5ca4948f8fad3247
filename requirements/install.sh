#!/bin/sh
# Steps of the Dockerfile: fills /app, a virtual environment, with the same bytes each time.
# pip's index and authorities may be given as build secrets `pip` and `authorities`; no layer keeps them.
set -eu

PIP_CONFIG_FILE=/run/secrets/pip
PIP_NO_CACHE_DIR=1
PIP_DISABLE_PIP_VERSION_CHECK=1
PIP_NO_INPUT=1
PIP_ROOT_USER_ACTION=ignore
export PIP_CONFIG_FILE PIP_NO_CACHE_DIR PIP_DISABLE_PIP_VERSION_CHECK PIP_NO_INPUT PIP_ROOT_USER_ACTION

pip() {
    /installer/bin/pip --python /app/bin/python "$@"
}

# Wheels only: nothing of a stranger's is run here.
install() {
    pip install --quiet --no-deps --no-compile --only-binary :all: "$@"
}

packages=$(/app/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' 2>/dev/null || true)

# Files that are new: compiled by hash, since the root file system is read-only and each start would compile them again; with one
# time and with modes that do not depend on the checkout.
settle() {
    PYTHONHASHSEED=0 /app/bin/python -m compileall -q -j 1 --invalidation-mode unchecked-hash "$@"
    find /app -newermt "@$SOURCE_DATE_EPOCH" ! -type l -exec chmod u=rwX,go=rX {} +
    find /app -newermt "@$SOURCE_DATE_EPOCH" -exec touch --no-dereference --date "@$SOURCE_DATE_EPOCH" {} +
}

case $1 in
begin) # two environments: /app will hold no pip
    python3 -m venv /installer
    python3 -m venv --without-pip /app
    ;;
locked) # FILE: every package with its version and hashes
    install --require-hashes --requirement "$2"
    settle "$packages"
    ;;
ours) # [FOLDER]: the wheel, and a package that is no distribution; what the wheel needs must be there
    install --no-index --find-links /wheel weightrollout
    pip check
    if [ $# -gt 1 ]; then
        cp -R "$2" "$packages/"
        settle "$packages/$2"
    fi
    settle "$packages/weightrollout"
    ;;
*)
    echo "install.sh: no step '$1'" >&2
    exit 2
    ;;
esac
