package policy

import (
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The two lists of section 10, as they stand there: entries are two blanks or a line apart.
const (
	sourceSeeds = `
ls  pwd  find  cat  head  tail  grep  wc  echo  git status  git diff  git log
git branch -a  git branch -r  git branch -v  git branch --list  git branch --show-current  git remote -v  git remote show
git worktree list  git show  git for-each-ref  git ls-tree  git rev-parse  git config --get
pnpm install  pnpm test  pnpm run  npm install  npm test  npm run  npx vitest  npx jest  yarn install  yarn test
mix deps.get  mix test  pytest  go test  cargo test`
	ourSeeds = `
true  :  test  [  uniq  cut  tr  sort  basename  dirname  date  stat  file  diff  which  rg  jq
git blame  git ls-files  git --no-pager log  git --no-pager diff  git --no-pager show  git --no-pager status
nl  awk  sed  sleep  printf  tac  rev  column  comm  paste  fold  seq  realpath  readlink  du  df  tree  od  xxd  md5sum
sha256sum  whoami  uname  id  type  command -v  git grep  git merge-base  git rev-list  git describe  git cat-file
git shortlog  git stash list  git check-ignore  python -m pytest  python3 -m pytest  go build  go vet  go list
cargo check  cargo build  cargo clippy  source .venv/bin/activate  source venv/bin/activate
. .venv/bin/activate  . venv/bin/activate  node --version  npm --version  pnpm --version  python --version
python3 --version  go version  cargo --version  rustc --version`
)

func seedEntries(text string) (entries []string) {
	for _, s := range regexp.MustCompile(`\n|  `).Split(text, -1) {
		if s != "" {
			entries = append(entries, "Terminal("+s+")")
		}
	}
	return entries
}

func TestTheSeedsAreThoseOfSectionTen(t *testing.T) {
	source, ours := Seeded()
	if diff := cmp.Diff(seedEntries(sourceSeeds), source); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(seedEntries(ourSeeds), ours); diff != "" {
		t.Error(diff)
	}
	if len(source) != 40 || len(ours) != 77 {
		t.Errorf("%d and %d seeds, want 40 and 77", len(source), len(ours))
	}
}

func TestSeedsAreNoMistakes(t *testing.T) {
	var f File
	source, ours := Seeded()
	f.Add(ListAllow, source...)
	f.Add(ListAllow, ours...)
	if reports := Lint(f); len(reports) > 0 {
		t.Errorf("%+v", reports)
	}
}

// TestSeedsOnlyRead tries what the seeds must not let through with another word or two.
func TestSeedsOnlyRead(t *testing.T) {
	source, ours := Seeded()
	p := Permissions{Allow: append(source, ours...)}
	for _, command := range []string{
		"git branch -D x", "git branch x", "git remote add x y", "git remote remove x", "git worktree add x", "git config user.name x", "git stash", "git stash drop",
		"find . -delete", "find . -exec rm {} +", "sed -i s/a/b/ x", "sed -n w/x y", "awk 'BEGIN{system(\"x\")}'", "sort -o x y", "uniq a b", "date -s x", "xxd -r a b",
		"git diff --output=x", "git log --output x", "git --no-pager diff --ext-diff", "git grep -Ovi x", "rg --pre x y", "tree -o x", "python -c x", "python3 -m http.server",
		"command x", "source x", ". ./x", "node x", "npm --version false", "cargo --version x", "printf -v x y", "go env -w x", "cargo clippy --fix", "npm publish",
	} {
		if got := verdictOf(t, Action{Type: "terminal", Command: command}, Owner, Autonomy{}, p, Context{}); got.Policy == AutoApprove {
			t.Errorf("%s: %s by %s", command, got.Policy, got.Rule)
		}
	}
}
