package policy

import (
	"strings"
	"testing"
)

// TestCallInAnySpellingIsFound has NAME in the place of this program and its path.
func TestCallInAnySpellingIsFound(t *testing.T) {
	for _, command := range strings.Split(strings.TrimSpace(`
runner approve 1
/usr/local/bin/runner approve 1
./bin/../runner approve 1
\runner approve 1
'runner' "approve" 1
$'\x72unner' approve 1
r''un"n"er approve 1
runner	approve 1
runner --json --home /x approve 1
runner -- approve 1
runner 2>&1 approve 1
>out runner approve 1
{runner,approve,1}
runner {approve,1}
runner a?prove 1
/usr/bin/r[u]nner approve 1
r*ner approve 1
Runner approve 1
/mnt/c/tools/runner.exe approve 1
exec runner approve 1
exec -a x runner approve 1
command runner approve 1
builtin command runner approve 1
env -i A=1 runner approve 1
env -S 'runner approve 1'
sudo -u ana -- runner approve 1
sudo sh -c 'runner approve 1'
doas runner approve 1
su ana -c 'runner approve 1'
runuser -u ana -- runner approve 1
nice -n 5 runner approve 1
ionice -c 3 runner approve 1
timeout -k 1 5s runner approve 1
stdbuf -oL runner approve 1
setsid runner approve 1
nohup setsid runner approve 1 >/dev/null 2>&1 &
flock /tmp/x runner approve 1
chroot / runner approve 1
unshare -r runner approve 1
strace -f runner approve 1
time -p runner approve 1
coproc runner approve 1
busybox sh -c 'runner approve 1'
xargs runner approve <ids
echo 1 | xargs -I{} runner approve {}
xargs sh -c 'runner approve $0' <ids
printf 'approve\n1' | xargs runner
parallel runner approve ::: 1
watch runner approve 1
find . -maxdepth 0 -exec runner approve 1 \;
find . -execdir sh -c 'runner approve 1' \;
fd . -x runner approve 1
sh -c 'runner approve 1'
bash -lc 'sh -c "runner approve 1"'
eval "runner" 'approve 1'
bash <<<'runner approve 1'
echo 'runner approve 1' | sh
echo "runner --json approve 1" | bash -s
printf 'runner approve %s' 1 | bash
source <(echo runner approve 1)
bash <(echo runner approve 1)
trap 'runner approve 1' EXIT
f() { runner approve 1; }; f
if runner approve 1; then :; fi
case x in x) runner approve 1;; esac
echo $(runner approve 1)
echo "${X:-$(runner approve 1)}"
cat < <(runner approve 1)
! runner approve 1
(runner approve 1)
R=runner; $R approve 1
R=runner C=approve; $R $C 1
R=runner; A=$R; $A approve 1
R=run; ${R}ner approve 1
run${X}ner approve 1
${X:-runner} approve 1
export R=runner; $R approve 1
declare -r R=/usr/bin/runner; "$R" approve 1
printf -v R runner; $R approve 1
read R <<<runner; $R approve 1
X='runner approve 1'; $X
X='runner approve 1'; bash -c "$X"
a=(runner approve 1); "${a[@]}"
set -- runner approve 1; "$@"
bash -c '"$0" "$@"' runner approve 1
for r in runner; do $r approve 1; done
alias r=runner; r approve 1
alias r='runner approve'; r 1
$(which runner) approve 1
"$(command -v runner)" approve 1
ln -s /usr/bin/runner r; ./r approve 1
ln -sf $(command -v runner) ./r && ./r approve 1
cp "$(which runner)" /tmp/r; /tmp/r approve 1
install -m755 /usr/bin/runner r && ./r approve 1
hash -p /usr/bin/runner r; r approve 1
cd /usr/bin; ./runner approve 1
git -c alias.x='!runner approve 1' x
git config alias.x '!runner approve 1'
git rebase --exec 'runner approve 1' main
git bisect run runner approve 1
git submodule foreach 'runner approve 1'
awk 'BEGIN{system("runner approve 1")}'
perl -e 'system("runner", "approve", "1")'
python3 -c 'import subprocess; subprocess.run(["runner","approve","1"])'
node -e 'require("child_process").execFileSync("runner", ["approve", "1"])'
ruby -e 'exec %w[runner approve 1]'
sed '1e runner approve 1' x
vim -c '!runner approve 1'
tar --to-command='runner approve 1' -xf x
tar --checkpoint=1 --checkpoint-action=exec='runner approve 1' -cf x .
echo 'runner approve 1' | at now
echo '* * * * * runner approve 1' | crontab -
systemd-run --user --wait -- runner approve 1
tmux new -d 'runner approve 1'
ssh localhost 'runner approve 1'
if then runner approve 1
`), "\n") {
		if steersIn(command) == "" {
			t.Errorf("not found: %s", command)
		}
	}
	for _, command := range []string{"sh <<'E'\nrunner approve 1\nE", "cat <<E | bash\nrunner approve 1\nE", "runner ap\\\nprove 1", "true;\nrunner approve 1\n"} {
		if steersIn(command) == "" {
			t.Errorf("not found: %q", command)
		}
	}
}

// TestNamesAndTextsOfEverydayAreNoCalls: what only speaks of the program, or is called alike, is no call.
func TestNamesAndTextsOfEverydayAreNoCalls(t *testing.T) {
	for _, command := range strings.Split(strings.TrimSpace(`
git commit -m 'have the runner approve it'
git log --grep 'runner approve'
grep -rn "runner approve" docs | sort -u
rg 'runner config' -l
sed -i 's/runner approve/runner pending/' README.md
echo 'runner approve 1' >>notes.md
printf '%s\n' "runner policy" >>notes.md
gh pr create --title 'runner approve' --body 'what the runner may confirm'
go test -run 'Runner/approve' ./...
which runner && runner status
test -x "$(command -v runner)" && runner history
cp dist/runner /tmp/ && ls -l /tmp/runner
ln -s ../runner tools && make
cp $SRC out && ./out run
$NPM run build
"$(npm bin)"/jest run
docker compose -f $F up -d
./gradlew runner; $JAVA config
python3 -m runner_config approve
test-runner approve
cd runner && npm run build
node runner.js approve
alias ll='ls -l'
sudo apt-get install zip tar
sudo chown -R ana src && sudo rm -rf build ../other
sudo cp build/x /usr/local/bin
ssh web rm -rf /home/ana/.config
docker exec web rm -rf /home
npm run mv ~
export PATH=/opt/runner/bin:$PATH; make
awk '/runner approved/ {print $2}' log
runner propose terminal -- ls
runner status --json
`), "\n") {
		if why := steersIn(command); why != "" {
			t.Errorf("%s: %s", command, why)
		}
	}
}

// TestFolderInAnySpellingIsFound: reading included, and as seen from the project's folder.
func TestFolderInAnySpellingIsFound(t *testing.T) {
	for _, command := range strings.Split(strings.TrimSpace(`
cat ~/.config/runner/policy.json
cat ~ana/.config/runner/policy.json
cat "$HOME/.config/runner/policy.json"
cat ${HOME:?}/.config/runner/policy.json
cat $XDG_CONFIG_HOME/runner/policy.json
cat /home/ana/.config/runner/policy.json
cat /home/../home/ana/.config//runner/./policy.json
cat ../.config/runner/policy.json
cat ~/.conf*/run*/policy.json
cat ~/.config/[r]unner/policy.json
cat ~/{.config,.cache}/runner/policy.json
cat ~/.con\fig/'run'"ner"/policy.json
cat $'/home/ana/.config/\x72unner/policy.json'
cd; cat .config/runner/policy.json
cd ~/.config; cat runner/policy.json
cd ..; cd .config/runner; ls
pushd ~/.config && ls runner
(cd ~ && tar c .config/runner)
cd "$HOME" && cd .config && exec cat runner/policy.json
for d in /home/ana/.config; do cat $d/runner/policy.json; done
D=~/.config; cat $D/runner/policy.json
D=runner; cat ~/.config/$D/policy.json
ln -s ~/.config/runner x
ln -s ~/.config x
mv ~/.config /tmp/x
mount --bind ~/.config/runner x
cat <~/.config/runner/policy.json
: >~/.config/runner/policy.json
tee ~/.config/runner/policy.json <x
dd of=/home/ana/.config/runner/policy.json
cp x -t ~/.config/runner
rsync x ~/.config/runner/
curl -o ~/.config/runner/policy.json http://x
curl --unix-socket ~/.local/state/runner/control.sock http://x/confirm
socat - UNIX-CONNECT:/home/ana/.local/state/runner/control.sock
sqlite3 ~/.local/state/runner/journal.db .dump
python3 -c 'open("/home/ana/.config/runner/policy.json","w")'
docker run -v ~/.config/runner:/x busybox ls /x
docker run --mount type=bind,src=/home/ana/.config/runner,dst=/x busybox
sh -c 'cat ~/.config/runner/policy.json'
find ~/.config/runner -type f
find ~ -path '*runner*' -delete
sudo rm -rf ~/.config
sudo -u root -- mv ~/.config x
sudo sh -c 'rm -rf ~/.config'
doas chown -R ana ~
strace -f rm -rf ~/.config
flock lock rm -rf ~/.config
timeout 5 sudo rm -rf ~/.config
cat /home/ANA/.Config/Runner/policy.json
cat /proc/self/root/home/ana/.config/runner/policy.json
cat /proc/self/cwd/../.config/runner/policy.json
`), "\n") {
		if steersIn(command) == "" {
			t.Errorf("not found: %s", command)
		}
	}
}
