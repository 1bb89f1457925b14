// Package journal remembers every action that reached this machine: what was received, begun, finished and delivered.
// It is the reason why nothing is lost and nothing runs twice, and it survives kill -9.
//
// It is one SQLite file in a folder of its own, written ahead (WAL), owned by one process through a lock that the
// operating system takes back when that process ends. The package starts no goroutine; every method may be called
// from many and returns when its step is stored.
//
//	action    id  server project event ref  digest            who asked for what; the four are the key
//	              text request secret                         what for a person; the payload without env, until it
//	                                                          is finished; whether there was an env
//	              received deadline begun finished delivered  when, in ms since 1970; NULL: not yet
//	              process                                     JSON of Process
//	              serial                                      place in the outbox; NULL: not due
//	              exit_code failure                           of the result, for the history
//	answer    id  event payload                               the result of the action with this id
//
// What is durable when: Begin is the one step that waits for the disk (fsync), and it takes everything before it
// along. The other steps survive the death of the process at once, and a power cut from the next Begin on. A result
// that a power cut takes away leaves an action that was begun and not finished: it is told as interrupted.
package journal
