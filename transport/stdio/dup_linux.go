package stdio

import "syscall"

// dup2 is dup3 here: some Linux ports have no other.
func dup2(from, to int) error { return syscall.Dup3(from, to, 0) }
