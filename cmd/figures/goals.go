package main

// figure is one promise about speed or size, and the benchmark that measures it.
type figure struct {
	text    string
	bench   bench
	sub     string // only the sub-benchmarks below this name; the worst of them counts
	metric  string // as the benchmark reports it
	unit    string // for people; "×" is a ratio to a floor that was measured in the same run
	goal    float64
	scale   float64 // from metric to unit; 0: as it is
	atLeast bool    // the goal is a lower bound
	beside  []aside
}

// aside is a value that a benchmark reports in the same run, told behind a figure's own: a floor, or a unit's other costs.
type aside struct {
	metric string
	scale  float64 // to what the words say; 0: as it is
	words  string  // behind the number
}

// bench is a benchmark and how often it runs, as -benchtime takes it.
type bench struct {
	pkg, name   string
	full, short string
}

// figures are all rows, in the order of the table.
func figures() []figure {
	var (
		exec      = bench{"./runner", "BenchmarkExec", "2000x", "300x"}
		drain     = bench{"./exec", "BenchmarkDrainOfAGiB", "3x", "1x"}
		run       = bench{"./cmd/runner", "BenchmarkRun", "20x", "5x"}
		act       = bench{"./runner/journal", "BenchmarkAction", "2000x", "500x"}
		recovery  = bench{"./cmd/runner", "BenchmarkRecovery", "11x", "5x"}
		redeliver = bench{"./runner", "BenchmarkRedeliver", "20x", "5x"}
		thousand  = bench{"./runner", "BenchmarkThousandSessions", "3x", "1x"}
		idle      = bench{"./runner", "BenchmarkIdleSession", "3x", "1x"}
		projects  = bench{"./runner", "BenchmarkProjects", "1x", "1x"}
		queue     = bench{"./runner", "BenchmarkQueue", "7x", "3x"}
		guard     = bench{"./runner", "BenchmarkGuard", "2000x", "500x"}
		confined  = bench{"./exec", "BenchmarkConfinedTrue", "500x", "100x"}
		everyday  = bench{"./runner/policy", "BenchmarkEveryday", "1x", "1x"}
		demo      = bench{"./cmd/runner", "BenchmarkDemo", "5x", "1x"}
		flood     = bench{"./runner", "BenchmarkTerminalFlood", "3x", "1x"}
		wake      = bench{"./cmd/runner", "BenchmarkContinue", "5x", "1x"}
		decide    = bench{"./runner/policy", "BenchmarkDecide", "1s", "200ms"}
		propose   = bench{"./runner/hub", "BenchmarkProposal", "2000x", "500x"}
		proposals = bench{"./runner/hub", "BenchmarkProposals", "5000x", "2000x"}
		history   = bench{"./runner/hub", "BenchmarkHistory", "100x", "20x"}
		idleHub   = bench{"./cmd/runner", "BenchmarkHub", "10x", "3x"}
		trueTrip  = bench{"./cmd/runner", "BenchmarkPropose", "1000x", "200x"}
		key       = bench{"./runner", "BenchmarkKeystroke", "1000x", "200x"}
		window    = bench{"./cmd/runner", "BenchmarkTerminalThroughHub", "1000x", "200x"}
		mirror    = bench{"./workspace", "BenchmarkMirrorOfUnchangedFiles", "5x", "2x"}
		inside    = bench{"./containerctl", "BenchmarkExecAgainstTheBareAPI", "100x", "1x"}
		cli       = bench{"./containerctl", "BenchmarkExecAgainstTheCommandLine", "50x", "1x"}
		start     = bench{"./containerctl", "BenchmarkStartAgainstTheBareAPI", "30x", "1x"}
		// What a unit costs, in one process with the server's half of it.
		eachProject = []aside{
			{"s-to-joined", 1000, "ms until all had joined"}, {"KiB/project", 1.024, "KB"}, {"descriptors/project", 0, "descriptors each"},
		}
		ofBare     = []aside{{"x-bare", 0, "× a Go program that only listens"}}
		ofParsing  = []aside{{"x-parse", 0, "× the shell library's parsing alone"}}
		eachQueued = []aside{{"µs/action", 0.001, "ms"}, {"KiB/action", 1.024, "KB"}, {"descriptors/action", 0, "descriptors each"}}
	)
	return []figure{
		{text: "command, frame in to result out, against bare os/exec", bench: exec, metric: "ratio", unit: "×", goal: 1.25},
		{text: "1 GiB of output: growth of the daemon", bench: drain, metric: "growth_MiB", unit: "MiB", goal: 8},
		{text: "1 GiB of output: drain rate against a bare pipe", bench: drain, metric: "drain_rate", unit: "×", goal: 0.5, atLeast: true},
		{text: "demo, from start to end", bench: demo, metric: "s-to-end", unit: "s", goal: 15},
		{text: "runner run: start to joined", bench: run, metric: "ms-to-joined", unit: "ms", goal: 100,
			beside: []aside{{"ratio", 0, "× the start of the bare binary"}}},
		{text: "runner run: resident memory, idle", bench: run, metric: "MiB-resident", unit: "MB", scale: 1.048576, goal: 20, beside: ofBare},
		{text: "stripped binary", bench: run, metric: "MiB-binary", unit: "MiB", goal: 30},
		{text: "journal, one action from receipt to delivery", bench: act, metric: "journal-µs", unit: "ms", scale: 0.001, goal: 0.3,
			beside: []aside{{"ratio", 0, "× a bare fsync"}}},
		{text: "recovery with 100,000 journalled actions: start to joined", bench: recovery, metric: "ms-to-joined", unit: "ms", goal: 1000,
			beside: []aside{{"ratio", 0, "× a journal of one action"}}},
		{text: "1,000 queued results redelivered", bench: redeliver, metric: "s-to-delivered", unit: "s", goal: 2,
			beside: []aside{{"ratio", 0, "× a bare channel"}}},
		{text: "1,000 sessions back after their server restarted", bench: thousand, metric: "s-to-back", unit: "s", goal: 60,
			beside: []aside{{"ratio", 0, "× the first join of all"}}},
		{text: "memory of an idle session, of 1,000", bench: idle, metric: "KiB/session", unit: "KB", scale: 1.024, goal: 60},
		{text: "an action with 1 project alone, against itself", bench: projects, sub: "1", metric: "x-of-one", unit: "×", goal: 1.5,
			beside: eachProject},
		{text: "an action among 10 projects, against 1", bench: projects, sub: "10", metric: "x-of-one", unit: "×", goal: 1.5,
			beside: eachProject},
		{text: "an action among 100 projects, against 1", bench: projects, sub: "100", metric: "x-of-one", unit: "×", goal: 1.5,
			beside: eachProject},
		{text: "an action among 1,000 projects, against 1", bench: projects, sub: "1000", metric: "x-of-one", unit: "×", goal: 1.5,
			beside: eachProject},
		{text: "each of 10 queued actions, against 10", bench: queue, sub: "10", metric: "x-of-ten", unit: "×", goal: 1.5,
			beside: eachQueued},
		{text: "each of 100 queued actions, against 10", bench: queue, sub: "100", metric: "x-of-ten", unit: "×", goal: 1.5,
			beside: eachQueued},
		{text: "each of 1,000 queued actions, against 10", bench: queue, sub: "1000", metric: "x-of-ten", unit: "×", goal: 1.5,
			beside: eachQueued},
		{text: "useful again after SIGCONT", bench: wake, metric: "s-to-useful", unit: "s", goal: 5,
			beside: []aside{{"ratio", 0, "× a daemon that was not stopped"}}},
		{text: "decide, a simple command", bench: decide, sub: "simple", metric: "ns/op", unit: "µs", scale: 0.001, goal: 10, beside: ofParsing},
		{text: "decide, 20 segments", bench: decide, sub: "segments20", metric: "ns/op", unit: "µs", scale: 0.001, goal: 100, beside: ofParsing},
		{text: "decide, the worst of the 1 MB texts", bench: decide, sub: "1MB", metric: "ns/op", unit: "s", scale: 1e-9, goal: 1},
		{text: "questions of an ordinary day that are spared", bench: everyday, metric: "%-spared", unit: "%", goal: 95, atLeast: true},
		{text: "second lock on a usual command, against the start of a shell", bench: guard, sub: "usual", metric: "of-a-shell", unit: "×", goal: 0.1},
		{text: "true confined, against unconfined", bench: confined, metric: "times_free", unit: "×", goal: 10,
			beside: []aside{{"ms-added", 0, "ms more"}}},
		{text: "hub, proposed to outcome without the command's own time", bench: propose, metric: "ms-median", unit: "ms", goal: 5,
			beside: []aside{{"x-floor", 0, "× a request without a store"}}},
		{text: "proposed to outcome of true, hub and daemon", bench: trueTrip, metric: "ms-median", unit: "ms", goal: 5,
			beside: []aside{{"x-floor", 0, "× the shell alone"}}},
		{text: "hub, proposals sustained, event log on", bench: proposals, metric: "proposals/s", unit: "/s", goal: 500, atLeast: true,
			beside: []aside{{"x-floor", 0, "× more requests without a store"}}},
		{text: "hub, a page of a history of 10,000", bench: history, metric: "ns/op", unit: "ms", scale: 1e-6, goal: 100,
			beside: []aside{{"x-floor", 0, "× a request without a store"}}},
		{text: "runner hub: resident memory, idle", bench: idleHub, metric: "MiB-resident", unit: "MB", scale: 1.048576, goal: 40, beside: ofBare},
		{text: "keystroke to echo, added by the daemon", bench: key, metric: "µs-added/key", unit: "ms", scale: 0.001, goal: 2,
			beside: []aside{{"µs-bare/key", 0.001, "ms bare"}}},
		{text: "keystroke to echo, added by hub and daemon", bench: window, metric: "µs-added/key", unit: "ms", scale: 0.001, goal: 2,
			beside: []aside{{"µs-bare/key", 0.001, "ms bare"}}},
		{text: "200 MB through a terminal: growth of daemon and server", bench: flood, metric: "growth_MiB", unit: "MiB", goal: 8},
		{text: "mirror of 50,000 unchanged files, against a stat walk", bench: mirror, metric: "x-of-stat-walk", unit: "×", goal: 1.5},
		{text: "true in a container, against the bare API", bench: inside, metric: "×bare", unit: "×", goal: 1.3},
		{text: "true in a container, against the docker command line", bench: cli, metric: "×faster", unit: "×", goal: 3, atLeast: true},
		{text: "start of a container, against the bare API", bench: start, metric: "×bare", unit: "×", goal: 1.2},
	}
}
