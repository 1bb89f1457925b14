package workspace

import "syscall"

// changeTime is in nanoseconds since 1970.
func changeTime(st *syscall.Stat_t) int64 { return st.Ctim.Nano() }
