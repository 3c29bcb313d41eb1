#!/usr/bin/env bash
# debian.sh BUILD COMPILER C_COMPILER: the Debian packages go into an empty root, programs in C++ and in C are built by what
# they hold alone, and they leave nothing behind.
set -euo pipefail
build=$1 compiler=$2 c_compiler=$3
for needed in cpack dpkg dpkg-shlibdeps pkg-config; do
  command -v "$needed" >/dev/null || { echo "$needed is not installed"; exit 77; }
done
[ "$(id -u)" -eq 0 ] || { echo "dpkg installs as root only"; exit 77; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cpack --config "$build/CPackConfig.cmake" -B "$folder/packages" >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
packages=("$folder"/packages/*.deb)
for package in "${packages[@]}"; do
  dpkg-deb --field "$package" Package Version Depends Installed-Size
done
mapfile -t names < <(for package in "${packages[@]}"; do dpkg-deb --field "$package" Package; done)
bytes=$(cat "${packages[@]}" | wc -c)
[ "$bytes" -le 20000000 ] || { echo "the packages have $bytes bytes of 20000000"; exit 1; }

root=$folder/root
mkdir -p "$root"/var/lib/dpkg/{info,updates,triggers}
touch "$root"/var/lib/dpkg/{status,available}
# What the packages depend on, and what their scripts run, is outside this root.
debian=(dpkg --root="$root" --force-depends --force-script-chrootless --force-unsafe-io --log=/dev/null)
"${debian[@]}" --install "${packages[@]}" >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }

for name in "${names[@]}"; do
  grep -q '^License: ' "$root/usr/share/doc/$name/copyright" || { echo "$name has no copyright file"; exit 1; }
done

pc=$(find "$root/usr" -name rig.pc)
export PKG_CONFIG_LIBDIR=${pc%/*}
export LD_LIBRARY_PATH=${PKG_CONFIG_LIBDIR%/*}
# shellcheck disable=SC2046
"$compiler" -O0 "$(dirname "$0")/main.cpp" $(pkg-config --cflags --libs rig) -o "$folder/program"
"$folder/program"
# shellcheck disable=SC2046
"$c_compiler" -std=c99 -Wall -Wextra -Wpedantic -Werror "$(dirname "$0")/c/main.c" $(pkg-config --cflags --libs rig-c) \
  -o "$folder/c_program"
"$folder/c_program"
if [ -x "$root/usr/bin/rigblas" ]; then
  printf '%%%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n2 3\n' >"$folder/path.mtx"
  "$root/usr/bin/rigblas" info "$folder/path.mtx"
fi
if grep -H -- '-L/' "${pc%/*}"/*.pc; then
  echo "these options name a folder of the machine that built the packages"
  exit 1
fi
if grep -rlF "$(cd "$build" && pwd)" "$root/usr"; then
  echo "these files name the folder of the build"
  exit 1
fi

"${debian[@]}" --purge "${names[@]}" >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
left=$(find "$root" -not -type d -not -path '*/var/lib/dpkg/*')
[ -z "$left" ] || { echo "left behind: $left"; exit 1; }
