package main

// alive can't tell on Windows: Git's bash numbers processes in its own way.
func alive(int) (alive, known bool) { return false, false }
