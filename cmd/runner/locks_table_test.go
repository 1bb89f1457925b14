package main

// unchanged has an action start as it was judged when it came.
const unchanged = "w.again = func() (plan, *failure.Failure) { return w.plan, nil }"

// locks are what stops the attacks that are played, one function or a few each.
func locks() []lock {
	return []lock{
		{"the second lock", []cut{{"runner/judge.go", "func (s *session) judge(", "return p, nil"}}, []string{
			"runner.TestAttackServerThatApprovesWhatThisMachineRefuses", "runner.TestAttackApprovalThatNoPersonGave",
			"runner.TestAttackJudgedThatSteersTheJudge", "runner.TestAttackWritesThatSteerTheJudge", "runner.TestAttackRulesThatAreNoFile",
			"runner.TestAttackRulesThatAreSwappedWhileTheyAreRead", "runner.TestAttackRulesSwappedWhileACommandWaits",
			"runner.TestAttackRulesChangedWhileThePersonDecides", "runner.TestAttackMoreHeldActionsThanAPersonCanRead",
			"runner.TestAttackHeldActionThatHidesWhatItDoes", "runner.TestAttackCeilingsBehindTextThatDoesNotParse",
			"runner.TestAttackServerCommandLeavesTheProject", "cmd/runner.TestAttackHeldActionThatConfirmsItself",
			"cmd/runner.TestAttackPolicyThatACommandTakesAway",
		}},
		{"denies", []cut{
			{"runner/policy/recheck.go", "func (r *Recheck) Denied(", "return Decision{}, false"},
			{"runner/policy/recheck.go", "func (r *Rules) DeniesType(", `return "", false`},
		}, []string{
			"runner.TestAttackServerThatApprovesWhatThisMachineRefuses", "runner.TestAttackRulesThatAreSwappedWhileTheyAreRead",
			"runner.TestAttackRulesSwappedWhileACommandWaits",
		}},
		{"denies of the hub", []cut{{"runner/policy/decide.go", "func (c *command) deny(", "return Decision{}, false"}}, []string{
			"runner/hub.TestAttackRulesThatAreSwappedDuringADecision",
		}},
		{"what belongs to the judge", []cut{
			{"runner/policy/protected.go", "func (r *Recheck) Steers(", `return ""`},
			{"runner/policy/protected.go", "func (p Protected) SteersPath(", "return false"},
		}, []string{
			"runner.TestAttackJudgedThatSteersTheJudge", "runner.TestAttackWritesThatSteerTheJudge",
			"runner.TestAttackMirrorThatCarriesTheKeyAway", "cmd/runner.TestAttackHeldActionThatConfirmsItself",
		}},
		{"ceilings", []cut{{"runner/judge.go", "func atCeilings(", `return "", nil`}}, []string{
			"runner.TestAttackApprovalThatNoPersonGave", "runner.TestAttackCeilingsBehindTextThatDoesNotParse",
			"runner.TestAttackMoreHeldActionsThanAPersonCanRead", "runner.TestAttackHeldActionThatHidesWhatItDoes",
		}},
		{"rules of this machine, its owner's alone", []cut{{"runner/machinepolicy/files_unix.go", "func shared(", `return ""`}}, []string{
			"runner/machinepolicy.TestAttackPolicyFileThatIsNotTheOwnersAlone",
		}},
		{"a project's rules, read strictly", []cut{{"runner/policy/file_load.go", "func Load(", "return File{}, nil"}}, []string{
			"runner.TestAttackRulesThatAreNoFile", "runner.TestAttackRulesThatAreSwappedWhileTheyAreRead",
			"runner/hub.TestAttackRulesThatAreSwappedDuringADecision",
		}},
		{"a command's folder, as it was approved", []cut{{"workspace/confine.go", "func Confine(", "return cwd, nil"}}, []string{
			"runner.TestAttackMessagesOfAServer",
		}},
		{"a command's folder, as it is at the start", []cut{{"workspace/enter.go", "func Enter(", "return openFolder(dir)"}}, []string{
			"runner.TestAttackFolderThatIsSwappedForALink",
		}},
		{"what waited, judged again", []cut{{"runner/dispatch.go", "func (s *session) jobOf(", unchanged}}, []string{
			"runner.TestAttackRulesSwappedWhileACommandWaits",
		}},
		{"the folder of what waited, in both ways", []cut{
			{"runner/dispatch.go", "func (s *session) jobOf(", unchanged}, {"workspace/enter.go", "func Enter(", "return openFolder(dir)"},
		}, []string{"runner.TestAttackFolderThatBecomesALinkWhileItsCommandWaits"}},
		{"a folder beside the project's, where it led at first", []cut{{"runner/beside.go", "func (s *session) leadsAsBefore(", "return true"}}, []string{
			"runner.TestAttackFolderBesideThatIsSwappedForALink",
		}},
		{"roots", []cut{{"workspace/permitted.go", "func permitted(", "return root, nil"}}, []string{
			"runner.TestAttackRootThatIsTheHome",
		}},
		{"mirrors", []cut{{"workspace/mirror.go", "func (m *Mirror) judge(", "return m.Destination, m.Destination, nil"}}, []string{
			"runner.TestAttackMessagesOfAServer",
		}},
		{"names in env", []cut{{"exec/names.go", "func allowedFromAction(", "return true"}}, []string{
			"runner.TestAttackMessagesOfAServer",
		}},
		{"what a command inherits", []cut{{"exec/names.go", "func inheritable(", "return true"}}, []string{
			"cmd/runner.TestAttackCommandThatLooksIntoTheDaemon",
		}},
		{"actions once", []cut{
			{"runner/dispatch.go", "func (s *session) isNew(", "return true"},
		}, []string{
			"runner.TestAttackServerThatRepeatsAltersAndReorders", "runner.TestAttackActionOfEveryKindThatComesAgainAltered",
		}},
		{"how long a message may be", []cut{{"channel/dialer.go", "func (d *Dialer) withDefaults(", "d.ReadLimit = 1 << 40"}}, []string{
			"runner.TestAttackMessageThatIsHuge",
		}},
		{"names of kept outputs", []cut{{"runner/spool.go", "func spoolName(", "return ref"}}, []string{
			"runner.TestAttackRefThatIsAPathOrALine",
		}},
		{"confinement, asked for", []cut{{"runner/bounds.go", "func (s *session) bounds(", "c.On = false"}}, []string{
			"runner.TestAttackServerCommandLeavesTheProject",
		}},
		{"confinement, put on", []cut{{"exec/confine_linux.go", "func (o order) confine(", "return nil"}}, []string{
			"exec.TestAttackConfinedCommand", "exec.TestAttackConfinedTerminal", "exec.TestAttackConfinedCommandSignalsTheDaemon",
			"exec.TestAttackFolderThatLeadsElsewhere", "runner.TestAttackServerCommandLeavesTheProject",
		}},
		{"confinement, of system calls", []cut{{"exec/confine_linux.go", "func filterCalls(", "return nil"}}, []string{
			"exec.TestAttackConfinedCommand",
		}},
		{"confinement, as to the network", []cut{{"runner/bounds.go", "func (s *session) bounds(", "c.Network = true"}}, []string{
			"runner.TestAttackServerCommandLeavesTheProject",
		}},
		{"confinement, told of our folders", []cut{{"runner/bounds.go", "func (s *session) bounds(", "s.m.o.Protected.Folders = nil"}}, []string{
			"runner.TestAttackServerCommandLeavesTheProject",
		}},
		{"confinement, where the kernel can", []cut{{"exec/confine_linux.go", "func confinementOf(", `return "", nil`}}, []string{
			"exec.TestAttackKernelThatCantConfine",
		}},
		{"confinement, without our folders", []cut{{"exec/bounds.go", "func (c *Confine) keepOut(", "return nil"}}, []string{
			"exec.TestAttackBoundsThatOpenThisRunner", "runner.TestAttackServerCommandLeavesTheProject",
		}},
		{"confinement, without what it could lead elsewhere", []cut{{"exec/bounds.go", "func (t trail) leadsThrough(", "return false"}}, []string{
			"exec.TestAttackFolderThatLeadsElsewhere",
		}},
		{"limits", []cut{{"exec/become_unix.go", "func (l Limits) set(", "return nil"}}, []string{
			"exec.TestAttackCommandRaisesItsLimits",
		}},
		{"git's writes, within the project", []cut{{"workspace/git/links.go", "func (v *view) refuseElsewhere(", "return nil"}}, []string{
			"workspace/git.TestAttackLinkInWhatGitWrites", "workspace/git.TestAttackGitFolderThatIsAnothersRepository",
		}},
		{"what a terminal would obey", []cut{{"runner/shown/shown.go", "func Text(", "return s"}}, []string{
			"cmd/runner.TestAttackServerThatTalksToTheTerminal",
		}},
		{"redaction", []cut{{"runner/redact/redact.go", "func New(", "return nil"}}, []string{
			"runner.TestAttackEnvComesBackInNoForm",
		}},
		{"peers of the socket", []cut{{"runner/control/peer_linux.go", "func judgePeer(", "return nil"}}, []string{
			"cmd/runner.TestAttackHeldActionThatConfirmsItself",
		}},
		{"peers of the hub", []cut{{"runner/control/offspring_linux.go", "func (d *Daemons) RefuseOffspring(", "return nil"}}, []string{
			"cmd/runner.TestAttackScriptThatApproves",
		}},
		{"the daemon's memory", []cut{{"exec/memory_linux.go", "func HideMemory(", "return nil"}}, []string{
			"cmd/runner.TestAttackCommandThatLooksIntoTheDaemon",
		}},
		{"core files", []cut{{"exec/cores_unix.go", "func DropCores(", "return nil"}}, []string{"cmd/runner.TestRootAttackOfALocalUser"}},
		{"files of ours, their owner's alone", []cut{
			{"runner/logs/open.go", "func prove(", "defer os.Chmod(filepath.Join(folder, FileName), 0o644)"},
		}, []string{"cmd/runner.TestRootAttackOfALocalUser"}},
		{"hosts", []cut{{"runner/hub/host.go", "func (h *Hub) known(", "return true"}}, []string{
			"runner/hub.TestAttackPageOfAnotherSite",
		}},
		{"origins", []cut{{"runner/hub/host.go", "func (h *Hub) originAllowed(", "return true"}}, []string{
			"runner/hub.TestAttackPageOfAnotherSite", "runner/hub.TestAttackSocketOfAnotherSite",
		}},
		{"who may what at the hub", []cut{{"runner/hub/api.go", "func person(", "return anyone"}}, []string{
			"runner/hub.TestAttackRightsThatAnAgentGivesItself",
		}},
		{"open terminals, looked at again", []cut{{"runner/hub/terminal.go", "func (h *Hub) reviewAll(", "return"}}, []string{
			"runner/hub.TestAttackTerminalOfAPersonWhoWasRemoved", "runner/hub.TestAttackTerminalOfABrowserThatSignedOut",
		}},
		{"the hub's decision", []cut{{"runner/hub/decide.go", "func (q question) decide(", "return policy.Decision{Policy: policy.AutoApprove}, nil"}}, []string{
			"runner/hub.TestAttackProposalThatDecidesAboutItself", "runner/hub.TestAttackRulesThatAreSwappedDuringADecision",
		}},
		{"results of a daemon's own project", []cut{{
			"runner/hub/dispatch.go", "func (h *Hub) result(",
			"h.mu.Lock(); if r := h.running[ref]; r != nil { projectID = r.Project }; h.mu.Unlock()",
		}}, []string{"runner/hub.TestAttackResultFromAnotherProject"}},
		{"the hub's proof", []cut{{"runner/hub/client/prove.go", "func (c *Client) prove(", "return nil"}}, []string{
			"runner/hub/client.TestAttackStrangerOnTheHubsPort", "runner/hub/client.TestAttackStrangerTakesThePortOfALivingClient",
			"cmd/runner.TestAttackStrangerInTheHubsPlace",
		}},
		{"rules of this machine, read strictly", []cut{{"runner/machinepolicy/files.go", "func (k *kept) read(", "return nil"}}, []string{
			"runner/machinepolicy.TestAttackPolicyFileThatIsNotTheOwnersAlone", "cmd/runner.TestAttackPolicyThatACommandTakesAway",
			"cmd/runner.TestAttackPolicyThatIsNotUnderstood",
		}},
	}
}
