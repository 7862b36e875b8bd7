package manager

// SameConnection tells whether another entry leads to the same connection, so that a reload keeps it: all that does not
// matter to a connection, such as DisabledTools and Description, may differ.
func (s Server) SameConnection(other Server) bool { return sameConnection(s, other) }
