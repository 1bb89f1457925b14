#!/bin/sh
# Before the files go: what runs the program is stopped, after its commands. Units, keys, settings and state stay, and a
# unit without its program is passed over by systemd. $1 is "remove" or "upgrade" (deb), or the number of versions that
# remain (rpm).
set -e
[ -d /run/systemd/system ] || exit 0

case "$1" in
remove | 0) ;;
*) exit 0 ;;
esac

systemctl stop 'runner@*.service' runner.service 'runner-*.service' || true
for folder in /run/user/*; do
  user=$(id -nu "${folder##*/}" 2>/dev/null) || continue
  [ -S "$folder/systemd/private" ] || continue
  runuser -u "$user" -- env XDG_RUNTIME_DIR="$folder" \
    systemctl --user stop runner.service 'runner-*.service' || true
done
