// Package machinepolicy is policy.json, the second lock's own file: what this machine refuses, whatever a server says
// (settings.md, "The second lock's own file").
//
// There are two: the person's own in the config folder, which others may neither read nor write, and the managed one
// of the whole machine, which can only narrow it. Within each, what a project's rules say stands in place of what the
// default's say, member by member, those of ceilings and confine too; denies add up. A file that can't be understood to
// the last member is a failure: a lock is never half understood.
//
// Files.Lock reads both files anew for each action: a few microseconds, and a change counts for the next action
// without a restart. A file that was there and is gone again, or that can't be understood any more, refuses
// everything until it is back: whoever could take the lock away would be its master.
//
// The package is pure but for that reading, and starts no goroutines.
package machinepolicy
