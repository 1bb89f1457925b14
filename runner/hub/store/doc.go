// Package store keeps what the hub must not forget: people and their roles, projects, agents and their autonomy,
// daemons, actions with their outcomes, the event log, credentials, and the codes and grants of a login.
//
// It is one SQLite file with one owner, or, for a hub without a disk, one in memory. Everything is read and written
// in transactions, one after another: Update for what changes, UpdateDurably for what a person decided, View for what
// is only looked at. The rows are plain values, and no rule of policy.md is applied here. The package starts no
// goroutines of its own. Secrets are kept as hashes, except the git credentials, which have to be handed on.
package store
