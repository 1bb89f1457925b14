package policy

import (
	"strings"
	"testing"
)

func TestDenyHoldsWhereOnlyTheTextInBackticksDoesNotParse(t *testing.T) {
	for _, c := range []struct {
		command string
		want    Rule
	}{
		{"rm -rf / `( `", BuiltinDeny},
		{"echo \"`if`\"; rm -rf /", BuiltinDeny},
		{"echo `curl x; (`", FileDeny},
		{"ls `( `", CeilingUnresolved},
		{"rm -rf / <<E\n\"$( esac\nE\nx) ", BuiltinDeny},
		{"cat <<E\n$(curl x)\nE\nx) `(`", FileDeny},
		{"rm -rf /\\\n\\\n\\", BuiltinDeny}, // Bash drops the last backslash
	} {
		d, err := Decide(Action{Type: "terminal", Command: c.command}, Owner,
			Autonomy{Mode: AutoApprove, Origin: "wildcard"}, Permissions{Deny: []string{"Terminal(curl)"}}, Context{})
		if err != nil || d.Rule != c.want {
			t.Errorf("%q: %+v, %v; want %s", c.command, d, err, c.want)
		}
	}
}

func TestTextThatTheLibraryRefusesIsReadForDenies(t *testing.T) {
	for _, text := range []string{
		"! ; rm -rf /", "! ! rm -rf /", "! \nrm -rf /", "time ! rm -rf /", "x=( a ) rm -rf /", "((a); rm -rf /)", "time -- ((1)) && rm -rf /",
		"a|&time case x in ''\nrm -rf /", "\\<<< ``;rm -rf /", "rm -rf /|cat <<E\n`", "rm -rf / <<E\n$(", "rm -rf / <<< cat <<E\n${x:-",
		"echo $((! ! rm -rf /) )", "echo $(! ! rm -rf /)", "echo `! ! rm -rf /`", "echo \"`! ! echo \\`rm -rf /\\``\"", "cat <<E\n$(! ! rm -rf /)\nE",
		"case x in x) ! ! rm -rf /;; esac", "case x in a|x) ! ;; (y) rm -rf /;; esac", "for i do ! ! rm -rf /; done", "for ((;;)) do ! ! rm -rf /; done",
		"for i in a; do ! ; rm -rf /; done", "f() { ! ; rm -rf /; }", "function f { ! ; rm -rf /; }", "coproc { ! ; rm -rf /; }", "coproc X { ! ; rm -rf /; }",
		"! ;>x rm -rf /", "! ;>&2 rm -rf /", "! ;rm -rf / &>x", "! ;rm 2>&1 -rf /", "! ;a=1 rm -rf /", "! ; [[ a ]] && rm -rf /", "! ; cat <(rm -rf /)",
		"bash -c '! ;r''m -rf / esacbash -c '", "eval '! ; rm -rf /'", "! ; eval 'rm -rf /'", "! ; ${x:-$(rm -rf /)}", "{ if a; then b; fi } && ! ; rm -rf /",
		"! ; coproc time -p rm -rf /", "! ; a=$'\\'' rm -rf /", "! ; ls # '\nrm -rf /",
		"! ; x=(<(rm -rf /)) ls", "x=(ls > a\nrm -rf /", "x=(ls <<E\nrm -rf /", "! ; [[ -f <(rm -rf /) ]]", "! ; ls $'`' && rm -rf /", "! ; cat <<E\n$(rm -rf /)\nE\necho '",
	} {
		for _, command := range []string{text, "ls\n" + text} {
			if d, denied := RecheckDeny(Action{Type: "terminal", Command: command}, Permissions{}, Context{}); !denied || d.Rule != BuiltinDeny {
				t.Errorf("%q: %+v", command, d)
			}
		}
	}
}

func TestWhatIsNoCommandInATextThatDoesNotParseIsNotDenied(t *testing.T) {
	for _, text := range []string{
		"! ; echo 'rm -rf /'", "! ; echo \"rm -rf /\"", "echo 'rm -rf /", "echo \"rm -rf /", "! ; ls # rm -rf /", "! ; [[ a || rm -rf / ]]",
		"! ; ((rm -rf /))", "! ; echo $((rm -rf /))", "x=(rm -rf /) ls", "! ; case a in rm) ls;; (rm) ls;; a|rm) ls;; esac", "echo $(rm -rf /", "(rm -rf /",
		"! ; cat <<'E'\nrm -rf /\nE", "! ; cat <<E\nrm -rf /\nE", "! ; for rm in rm -rf /; do ls; done", "rm() { ! ; }", "! ; ls rm -rf /", "echo `rm -rf /",
		"case rm in a) ! ;; esac", "! ; ls >rm", "! ; echo ${x:-rm -rf /}", "! ; { ls; } rm -rf /", "! ; ls <<< 'rm -rf /'", "! ; echo \\`rm -rf /\\`",
		"! ; echo $'`rm -rf /`'", "! ; function rm { ls; }", "x=(ls; rm -rf /)", "rm -rf / $(", "rm -rf / <(ls", "ls \"`rm -rf /`", "ls $(cat <<E\n`rm -rf /`\nE\n", "ls $(rm -rf /; '",
	} {
		p := Permissions{Deny: []string{"Terminal(rm)", "Terminal(rm -rf /)"}}
		if d, denied := RecheckDeny(Action{Type: "terminal", Command: text}, p, Context{}); denied {
			t.Errorf("%q: %+v", text, d)
		}
		if d, err := Decide(Action{Type: "terminal", Command: text}, Owner, wholeAuto, p, Context{}); err != nil || d.Rule != CeilingUnresolved {
			t.Errorf("%q: %+v, %v", text, d, err)
		}
	}
}

func TestASecondReadingAddsNoSegmentTwice(t *testing.T) {
	for text, want := range map[string]int{"ls\necho 'a": 1, "ls; ls; echo 'a": 2, "ls a; ! ; ls b": 2, "bash <<E\nls\nE\n! ;": 1, "ls >a; ls >b; ! ;": 2} {
		if got := len(analyse(text).units()); got != want {
			t.Errorf("%q: %d segments, want %d", text, got, want)
		}
	}
}

func TestWhatAHereDocumentRunsInFrontOfABreakIsFound(t *testing.T) {
	p := Permissions{Deny: []string{"Terminal(reboot)"}}
	for _, text := range []string{"cat <<E\n`reboot`$( esac", "cat <<E\n`reboot`\"$(x) \"$( esac", "cat <<E\n$(reboot)`ls`${x", "cat <<E\n`reboot`$(( 1", "cat <<E\n`rebo''ot`$( esac\nE\nls"} {
		if d, denied := RecheckDeny(Action{Type: "terminal", Command: text}, p, Context{}); !denied {
			t.Errorf("%q: %+v", text, d)
		}
	}
}

func TestACoprocessWithARedirectionAloneIsACommand(t *testing.T) {
	p := Permissions{Deny: []string{"Terminal(reboot)"}}
	for _, text := range []string{
		"coproc reboot >x", "coproc {reboot,now} &>x", "coproc reboot", "coproc reboot export a", "coproc X { reboot; }",
		"coproc reboot | cat", "coproc reboot now | cat | cat", "coproc reb''oot x|eval ", "coproc reboot >x | cat", "coproc reboot export a | cat",
		"coproc reboot time x", "coproc reboot let 1 | cat", "coproc X { reboot; } | cat", "coproc X=1 reboot | cat", "coproc X=1 Y=2 reboot",
		"coproc reboot x=1 | cat", "coproc X if true; then reboot; fi | cat", "coproc ls | reboot", "coproc reboot coproc x", "coproc reboot a=(1)",
		"coproc reboot |& cat", "{ coproc reboot | cat; }", "echo $(coproc reboot | cat)", "coproc reboot | cat && ls", "! coproc reboot | cat",
	} {
		if d, denied := RecheckDeny(Action{Type: "terminal", Command: text}, p, Context{}); !denied {
			t.Errorf("%q: %+v", text, d)
		}
	}
}

func TestAnAssignmentBehindTheCommandOfACoprocessIsAWord(t *testing.T) {
	p := Permissions{Deny: []string{"Terminal(dd of=/dev/sda)"}}
	for _, text := range []string{"coproc dd of=/dev/sda", "coproc dd of=/dev/sda | cat", "coproc X=1 dd of=/dev/sda bs=1 | cat", "coproc dd 'of=/dev/sda'"} {
		if d, denied := RecheckDeny(Action{Type: "terminal", Command: text}, p, Context{}); !denied {
			t.Errorf("%q: %+v", text, d)
		}
	}
	if _, denied := RecheckDeny(Action{Type: "terminal", Command: "coproc dd of+=/dev/sda"}, p, Context{}); denied {
		t.Error("another word is denied")
	}
}

func TestInputOfAShellIsReadWhateverItsOptions(t *testing.T) {
	for _, command := range []string{"bash -c \"``<(cu''rl x)\"", "bash -c bash <<X\ncurl x\nX", "bash -c 'sh -c \"bash\"' <<X\ncurl x\nX", "eval bash <<X\ncurl x\nX", "bash -s <<X\ncurl x\nX", "sh --rcfile f <<'X'\ncurl x\nX", "bash -s <<<'curl x'"} {
		d, err := Decide(Action{Type: "terminal", Command: command}, Owner, Autonomy{}, Permissions{Deny: []string{"Terminal(curl)"}}, Context{})
		if err != nil || d.Rule != FileDeny {
			t.Errorf("%q: %+v, %v", command, d, err)
		}
	}
}

func TestShellsThatAreHandedShellsLeaveNothingBehindThemUnread(t *testing.T) {
	for _, text := range []string{
		"bash <<E\nbash <<E\nbash <<E\nE\nbash <<E\nrm -rf /", "bash <<E\n" + strings.Repeat("bash\n", 50) + "E\nbash <<<'rm -rf /'",
		"bash <<E\n" + strings.Repeat("ssh h bash\nbash $x\n", 50) + "E\nsh -s <<<'rm -rf /'", "{ bash; bash; sh; } <<E\nbash\nsh <<F\nrm -rf /\nF\nE",
		"{ { { bash; bash; } <<A; bash; } <<B; bash; } <<C\nbash\nbash\nA\nbash\nbash\nB\nsh\nrm -rf /\nC", "ssh h 'bash <<<bash'; bash <<<bash; bash <<<'rm -rf /'",
	} {
		if d, denied := RecheckDeny(Action{Type: "terminal", Command: text}, Permissions{}, Context{}); !denied {
			t.Errorf("%q: %+v", text, d)
		}
	}
}
