package policy

import (
	"strings"
	"testing"
)

// consentRow is a row of section 17a: under an entry that names the verb alone, effects ask and the rest passes.
type consentRow struct {
	allow   string // the entry's content
	effects string // commands, one a line
	passes  string
}

var effectToolRows = []consentRow{
	{"find", "find . -delete\nfind . -fprint x\nfind . -fprint0 x\nfind . -fprintf x y\nfind . -fls x\nfind . \"$X\"", "find . -name -print\nfind . -name x -type f"},
	{"sed", "sed -i s/a/b/ x\nsed -I s/a/b/ x\nsed --in-place=x s/a/b/ x\nsed --in s/a/b/ x\nsed -ni p x\nsed -f x y\nsed --file=x y\nsed 'w x'\nsed 's/a/b/w x'\nsed 's/a/b/e' x\nsed '1e ls' x\nsed 'r x' y\nsed \"$X\" y\nsed 'a x' y\nsed 's/[a/]/b/' x",
		"sed -n 1,5p x\nsed -e s/a/b/g -e '/x/d' y\nsed -E 's|a|b|2I' x\nsed '/a/,$!d' x\nsed 'y/abc/def/;$q' x\nsed -n '/a/{=;p}' x\nsed '0~3d;2,+4p' x\nsed ':a;N;$!ba;s/a/b/' x\nsed 's/[[:space:]]/x/' y\nsed -l 5 -n p x"},
	{"awk", "awk -f x y\nawk -i x y\nawk --file=x\nawk \"$X\" y\nawk 'BEGIN{system(\"x\")}'\nawk '{getline}'\nawk 'BEGIN{ARGV[1]=\"x\"}'\nawk '@load \"x\"'\nawk '{print | \"x\"}'\nawk '{print > \"x\"}'", "awk '{print $1}' x\nawk -F: -v x=1 '$1 > 3 {print}' x\nawk '$1 || $2' x"},
	{"gawk", "gawk -f x", "gawk '{print}' x"},
	{"mawk", "mawk -W x", "mawk 1 x"},
	{"nawk", "nawk -f x", "nawk 1 x"},
	{"python3", "python3\npython3 -c x\npython3 -i\npython3 -X a b.py\npython3 --version x", "python3 x.py\npython3 -u x.py -c y\npython3 -B x.py\npython3 --version\npython3 -V\npython3 --help\npython3 -h"},
	{"python3.11", "python3.11 -c x", "python3.11 x.py"},
	{"perl", "perl -e x\nperl -i x", "perl x.pl -e y"},
	{"node", "node\nnode -e x\nnode -r x y\nnode -v x", "node x.js --eval\nnode --version\nnode -v"},
	{"nodejs", "nodejs -p x", "nodejs x.js"},
	{"ruby", "ruby -e x", "ruby x.rb"},
	{"php", "php -r x", "php x.php"},
	{"lua", "lua -e x", "lua x.lua"},
	{"elixir", "elixir -e x", "elixir x.exs"},
	{"Rscript", "Rscript -e x", "Rscript x.R"},
	{"deno", "deno eval x\ndeno repl\ndeno x y", "deno run x.ts\ndeno fmt"},
	{"bun", "bun x y\nbun eval x\nbun repl", "bun run test\nbun test"},
	{"source", "source ./x", ""},
	{".", ". ./x", ""},
	{"export", "export FOO=x\nexport A=1 B=2", "export FOO\nexport CI=1"},
	{"declare", "declare FOO=x", "declare -p"},
	{"typeset", "typeset FOO=x", "typeset -p"},
	{"readonly", "readonly FOO=x", "readonly FOO"},
	{"printf", "printf -v x y\nprintf -vx y", "printf '%s' -v\nprintf x"},
	{"go", "go build -toolexec=x .\ngo build -toolexec x .\ngo vet -vettool=x\ngo test -exec x\ngo test --exec=x\ngo build -o=x\ngo build -ldflags=-extld=x\ngo build -o=/x\ngo test -coverprofile=../x\ngo test -x=~/y", "go build ./...\ngo test -run X -v ./...\ngo test -coverprofile=x"},
	{"cargo", "cargo build --config x\ncargo build --config=x\ncargo -Zx build\ncargo build -Z x\ncargo build --target-dir=/x\ncargo build --out-dir=../x", "cargo build --release\ncargo test"},
	{"cargo clippy", "cargo clippy --fix", "cargo clippy --all"},
	{"cargo --version", "cargo --version x", "cargo --version"},
	{"npm --version", "npm --version false", "npm --version"},
	{"pnpm --version", "pnpm --version x", "pnpm --version"},
	{"npx", "npx x --out=/y\nnpx x --out=../y\nnpx x --out=~/y\nnpx eslint --fix x\nnpx eslint --output-file=x\nnpx eslint -o x\nnpx eslint -ox y", "npx vitest run\nnpx eslint x"},
	{"pytest", "pytest --pastebin=all\npytest --basetemp=x\npytest --basetemp x\npytest -cx\npytest --junitxml=/x", "pytest -k x -q\npytest -x tests/a.py"},
	{"python -m pytest", "python -m pytest --basetemp=x\npython -m pytest --x=/y", "python -m pytest -q"},
	{"sort", "sort -o x y\nsort -uo x y\nsort -ox y\nsort --output=x y\nsort --out x\nsort --compress-program=x\nsort --files0-from=x", "sort -u x\nsort -k 2 -t o x\nsort -ko x"},
	{"shuf", "shuf -o x", "shuf x"},
	{"tree", "tree -o x\ntree -R", "tree -L 2 -I node_modules"},
	{"iconv", "iconv -o x y", "iconv -f utf8 -t latin1 x"},
	{"base64", "base64 -o x", "base64 -d x"},
	{"uniq", "uniq a b\nuniq -- a b\nuniq *", "uniq -c a\nuniq -f 1 a"},
	{"xxd", "xxd a b\nxxd -r a\nxxd *", "xxd -l 16 a\nxxd -c 8 a"},
	{"yq", "yq -i .a=1 x\nyq --inplace x\nyq -s .a x\nyq --split-exp x", "yq .a x\nyq -o json .a x"},
	{"date", "date -s x\ndate --set=x\ndate -f x\ndate 01010101\ndate --file=x", "date\ndate +%s\ndate -d yesterday\ndate -u\ndate --date x"},
	{"file", "file -C -m x\nfile -f x\nfile -m x y\nfile -z x\nfile -Z x\nfile --compile\nfile --files-from x\nfile --magic-file x\nfile --uncompress x", "file x\nfile -b x\nfile -F f x"},
	{"diff", "diff -l a b\ndiff --paginate a b\ndiff --from-file=x y\ndiff --to-file=x y", "diff -u a b\ndiff -U 3 a b"},
	{"jq", "jq -f x y\njq -L x y\njq --from-file x\njq --library-path x\njq 'import \"a\" as a; .'\njq 'include \"a\"; .'", "jq .a x\njq -r .a x"},
	{"split", "split --filter=x y", "split -l 5 x"},
	{"tar", "tar -I x -xf y\ntar -F x\ntar --use-compress-program=x\ntar --to-command=x\ntar --checkpoint-action=exec=x\ntar --rsh-command=x\ntar --rmt-command=x\ntar --info-script=x\ntar --new-volume-script=x\ntar If x y", "tar -xzf x\ntar tf x"},
	{"zip", "zip -TT x y\nzip --unzip-command x y", "zip -r x y"},
	{"rg", "rg --pre x y\nrg --hostname-bin x y\nrg -z x\nrg --search-zip x", "rg -n x y\nrg -g '*.go' x"},
	{"gcc", "gcc -wrapper x y\ngcc -fplugin=x y\ngcc @x", "gcc -O2 -o x y.c"},
	{"clang", "clang -Xclang x y", "clang -c x.c"},
	{"ld", "ld @x", "ld x.o"},
}

func TestEffectWordsMustBeNamed(t *testing.T) {
	checkEffects(t, effectToolRows)
}

func checkEffects(t *testing.T, rows []consentRow) {
	for _, row := range rows {
		t.Run(row.allow, func(t *testing.T) {
			verdict := func(command string, entries ...string) Decision {
				return verdictOf(t, Action{Type: "terminal", Command: command}, Owner, Autonomy{}, Permissions{Allow: entries}, Context{})
			}
			for _, command := range splitLines(row.passes) {
				if d := verdict(command, "Terminal("+row.allow+")"); d.Rule != "file_allow" {
					t.Errorf("%s: %s by %s, has no effect word", command, d.Policy, d.Rule)
				}
			}
			for _, command := range splitLines(row.effects) {
				if d := verdict(command, "Terminal("+row.allow+")"); d.Policy == AutoApprove {
					t.Errorf("%s: %s by %s, has an effect word", command, d.Policy, d.Rule)
				}
				// The entry that names the whole command covers it, where it names what it does.
				if d := verdict(command, "Terminal("+command+")"); d.Policy != AutoApprove && !strings.ContainsAny(command, "\"'*$~{") && strings.Contains(command, " ") {
					t.Errorf("%s: %s by %s under an entry of its own", command, d.Policy, d.Rule)
				}
				// Nothing else looks at effect words.
				if d := verdictOf(t, Action{Type: "terminal", Command: command}, Owner, autoMode, Permissions{}, Context{}); d.Policy == Deny {
					t.Errorf("%s in auto mode: %s", command, d.Rule)
				}
			}
		})
	}
}

func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}
