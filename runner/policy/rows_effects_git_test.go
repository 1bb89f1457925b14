package policy

import "testing"

var effectGitRows = []consentRow{
	{"git", "git -c a.b=c status\ngit --config-env a=b status\ngit --exec-path=x status\ngit --git-dir x status\ngit --git-dir=x status\ngit -p log\ngit --paginate log\ngit -C a -c b=c status", "git status\ngit -C a status\ngit --no-pager log\ngit --work-tree x status"},
	{"git diff", "git diff --output=x\ngit diff --out x\ngit diff --ext-diff\ngit diff --textconv", "git diff --stat a b\ngit diff --text"},
	{"git log", "git log --output=x\ngit log --ext-diff\ngit log --textconv", "git log --oneline -5"},
	{"git show", "git show --textconv x", "git show x"},
	{"git blame", "git blame --contents x y", "git blame x"},
	{"git grep", "git grep -O x\ngit grep --open-files-in-pager x\ngit grep -Ovi x", "git grep -n x"},
	{"git shortlog", "git shortlog --output=x", "git shortlog -sn"},
	{"git whatchanged", "git whatchanged --output=x", "git whatchanged"},
	{"git reflog", "git reflog --output=x", "git reflog"},
	{"git range-diff", "git range-diff --output=x a b", "git range-diff a b"},
	{"git stash", "git stash show --output=x\ngit stash drop\ngit stash clear", "git stash list\ngit stash pop"},
	{"git diff-tree", "git diff-tree --output=x a", "git diff-tree a"},
	{"git diff-index", "git diff-index --ext-diff a", "git diff-index a"},
	{"git diff-files", "git diff-files --output=x", "git diff-files"},
	{"git cat-file", "git cat-file --textconv x\ngit cat-file --filters x", "git cat-file -p x"},
	{"git rev-list", "git rev-list --output=x a", "git rev-list a"},
	{"git fetch", "git fetch --upload-pack=x", "git fetch origin"},
	{"git pull", "git pull --upload-pack=x", "git pull"},
	{"git clone", "git clone --upload-pack=x a\ngit clone -u x a\ngit clone -c a=b x\ngit clone --config=a x\ngit clone --template=x y", "git clone x y"},
	{"git ls-remote", "git ls-remote --upload-pack=x a\ngit ls-remote --exec=x a", "git ls-remote origin"},
	{"git archive", "git archive --output=x a\ngit archive -o x a\ngit archive --exec=x a", "git archive HEAD"},
	{"git rebase", "git rebase -x make a\ngit rebase --exec=make a", "git rebase main"},
	{"git bisect", "git bisect run make", "git bisect good"},
	{"git submodule", "git submodule foreach ls", "git submodule update"},
	{"git branch", "git branch -d x\ngit branch -D x\ngit branch -m x\ngit branch -M x\ngit branch -c x\ngit branch -C x\ngit branch -f x\ngit branch -u x\ngit branch --delete x\ngit branch --move x\ngit branch --copy x\ngit branch --force x\ngit branch --set-upstream-to=x\ngit branch --unset-upstream\ngit branch --edit-description", "git branch -a\ngit branch x"},
	{"git tag", "git tag -d x\ngit tag -f x\ngit tag --delete x\ngit tag --force x", "git tag x\ngit tag -m d x"},
	{"git worktree", "git worktree add x\ngit worktree remove x\ngit worktree move a b\ngit worktree prune", "git worktree list"},
	{"git remote", "git remote remove x\ngit remote rm x\ngit remote rename a b\ngit remote set-head x\ngit remote set-branches x\ngit remote prune x\ngit remote update", "git remote -v\ngit remote show"},
	{"git checkout", "git checkout -- x\ngit checkout .\ngit checkout -f\ngit checkout -B x\ngit checkout --force", "git checkout x\ngit checkout -b x"},
	{"git switch", "git switch -f x\ngit switch -C x\ngit switch --force x\ngit switch --discard-changes x", "git switch x\ngit switch -c x"},
	{"git reset", "git reset --hard\ngit reset --merge\ngit reset --keep", "git reset --soft x\ngit reset x"},
	{"git config", "", "git config --get a\ngit config --list\ngit config -l\ngit config --get-all a\ngit config --get-regexp a\ngit config get a\ngit config list"},
	{"git add", "", "git add -A"},
	{"git commit", "", "git commit -m x"},
}

func TestGitsEffectWordsMustBeNamed(t *testing.T) {
	checkEffects(t, effectGitRows)
}

var effectRemoteRows = []consentRow{
	{"gh", "gh repo view-x\ngh pr close 1\ngh pr comment 1\ngh issue create\ngh -R a/b pr", "gh pr list\ngh pr view 1\ngh pr status\ngh pr diff 1\ngh pr checks 1\ngh search issues x\ngh run watch 1"},
	{"gh api", "gh api x -f a=b\ngh api x -F a=b\ngh api x --field a=b\ngh api x --raw-field a=b\ngh api x --input y\ngh api x -X POST\ngh api x -XPOST\ngh api x --method DELETE\ngh api graphql", "gh api x\ngh api x -X GET\ngh api x --method HEAD\ngh api x -q .a"},
	{"glab", "glab mr close 1", "glab mr list\nglab mr view 1"},
	{"glab api", "glab api x -f a=b", "glab api x"},
	{"curl", "curl -o x y\ncurl -O y\ncurl -T x y\ncurl -d x y\ncurl -F x y\ncurl -X POST y\ncurl -XPOST y\ncurl -K x\ncurl -H @x y\ncurl -w @x y\ncurl -w %output{x} y\ncurl --data x y\ncurl --request POST y\ncurl --output x y\ncurl -sSo x y\ncurl -x p y\ncurl -u a:b y", "curl x\ncurl -sSfL x\ncurl -I x\ncurl -v -k -g -N -4 x\ncurl -6 x\ncurl -H a:b x\ncurl -A a x\ncurl -e a x\ncurl -m 5 x\ncurl -w %x y\ncurl -o /dev/null x\ncurl -X GET x\ncurl -X HEAD x\ncurl --silent --show-error --fail --location x\ncurl --max-time 5 --retry 3 x\ncurl --request GET x\ncurl --output /dev/null x"},
	{"wget", "wget -O x y\nwget -o x y\nwget -a x y\nwget -P x y\nwget -e x y\nwget -i x\nwget --post-data=x y\nwget --output-document=x y", "wget x\nwget -q x\nwget -O - x\nwget -O /dev/null x\nwget --quiet x\nwget --spider x\nwget --timeout=5 --tries=2 x"},
	{"ssh", "ssh -o x h\nssh -F x h\nssh -J x h\nssh -S x h\nssh -E x h", "ssh h\nssh -p 22 h"},
	{"scp", "scp -o x a b\nscp -S x a b", "scp a b"},
	{"sftp", "sftp -o x h", "sftp h"},
	{"rsync", "rsync -e x a b\nrsync --rsh=x a b\nrsync --rsync-path=x a b\nrsync --delete a b\nrsync --delete-after a b\nrsync --remove-source-files a b\nrsync --log-file=x a b", "rsync -av a b"},
	{"less", "less +x y\nless -o x y\nless -O x y\nless -k x y\nless -P x y\nless --log-file=x y\nless --lesskey-src=x y", "less x\nless -R x"},
	{"more", "more +x y", "more x"},
	{"man", "man -P x y\nman -H y\nman -C x y\nman --pager=x y\nman --html=x y\nman --config-file=x y", "man x\nman -k x"},
	{"vim", "vim +x y\nvim -c x y\nvim --cmd x", "vim x"},
	{"nano", "nano +5 x\nnano -w x", "nano x"},
	{"hostname", "hostname x", "hostname"},
	{"ip", "ip addr add x\nip link set x\nip route del x\nip addr flush x", "ip addr show\nip a"},
	{"sysctl", "sysctl -w a=b\nsysctl a=b\nsysctl -p\nsysctl --system", "sysctl a\nsysctl -a"},
	{"systemctl", "systemctl restart x\nsystemctl stop x\nsystemctl daemon-reload", "systemctl status x\nsystemctl show x\nsystemctl cat x\nsystemctl is-active x\nsystemctl is-enabled x\nsystemctl list-units"},
	{"crontab", "crontab -r\ncrontab -e\ncrontab x", "crontab -l"},
	{"openssl", "openssl req -out x\nopenssl req -keyout x\nopenssl rand -writerand x\nopenssl x -engine y\nopenssl x -provider y\nopenssl x -provider-path y", "openssl x509 -in y -text"},
}

func TestRemoteAndSystemEffectWordsMustBeNamed(t *testing.T) {
	checkEffects(t, effectRemoteRows)
}

// TestAVerbThatSaysWhatItDoesNeedsNoMore goes through the rows whose consent is plain.
func TestAVerbThatSaysWhatItDoesNeedsNoMore(t *testing.T) {
	rows := []consentRow{}
	for _, verb := range []string{
		"cp", "mv", "rm", "ln", "install", "mkdir", "touch", "chmod", "chown", "tee", "dd", "truncate", "csplit", "shred", "patch", "unzip", "gzip", "strip", "objcopy", "mount", "kill",
		"make", "npm", "pnpm", "yarn", "bunx", "uvx", "mix", "docker", "podman", "kubectl",
		"true", ":", "test", "[", "grep", "cat", "head", "tail", "wc", "ls", "cut", "tr", "cmp", "stat", "basename", "dirname", "which", "column", "printenv", "whatever",
	} {
		rows = append(rows, consentRow{verb, "", verb + " -x y\n" + verb + " --option z"})
	}
	rows = append(rows, consentRow{"pipx run", "", "pipx run x"})
	checkEffects(t, rows)
}
