#!/bin/sh
# After the files of a new version are in place: what runs the old one is started anew, and lets its commands finish
# first. Nothing is enabled or started that did not run. $1 is "configure" with the old version in $2 (deb), or the
# number of versions installed (rpm).
set -e
[ -d /run/systemd/system ] || exit 0
systemctl daemon-reload || true

case "$1" in
configure) [ -n "$2" ] || exit 0 ;;
[2-9]*) ;;
*) exit 0 ;;
esac

systemctl --no-block try-restart 'runner@*.service' runner.service 'runner-*.service' || true
for folder in /run/user/*; do
  user=$(id -nu "${folder##*/}" 2>/dev/null) || continue
  [ -S "$folder/systemd/private" ] || continue
  runuser -u "$user" -- env XDG_RUNTIME_DIR="$folder" \
    systemctl --user --no-block try-restart runner.service 'runner-*.service' || true
done
