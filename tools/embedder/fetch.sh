#!/bin/sh
# Brings the packages of sources.txt from PyPI, and WordNet and SCOWL from Debian, into a folder: fetch.sh FOLDER
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1" && cd "$1"
grep -v '^#' "$here/sources.txt" | while read -r package; do
  python3 -m pip download --quiet --no-deps --only-binary :all: "$package"
done
apt-get download wordnet-base wamerican wamerican-small
for package in *.deb; do dpkg-deb -x "$package" debian; done
