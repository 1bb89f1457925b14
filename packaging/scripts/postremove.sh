#!/bin/sh
# After the files are gone. Only "purge" (deb) removes what people's daemons and hubs kept in their home folders: pairing,
# settings, journal, logs, database and units. It is done with each person's own rights, so that a link of theirs leads
# nowhere where they may not write themselves.
set -e
if [ -d /run/systemd/system ]; then systemctl daemon-reload || true; fi
[ "$1" = purge ] || exit 0

rm -f /etc/systemd/system/multi-user.target.wants/runner@*.service
getent passwd | while IFS=: read -r user _ uid _ _ home _; do
  [ "$uid" -ge 1000 ] && [ "$uid" -lt 60000 ] && [ -d "$home" ] || continue
  # shellcheck disable=SC2016 # the inner shell looks at the variables
  runuser -u "$user" -- env HOME="$home" sh -c '
    cd / || exit
    rm -rf "$HOME/.config/runner" "$HOME/.local/state/runner" "$HOME/.local/share/runner" "$HOME/.cache/runner"
    for unit in "$HOME"/.config/systemd/user/runner.service "$HOME"/.config/systemd/user/runner-*.service; do
      grep -qs "^\[X-Runner\]" "$unit" || continue
      rm -f "$unit" "$HOME/.config/systemd/user/default.target.wants/${unit##*/}"
    done' </dev/null || true
done
