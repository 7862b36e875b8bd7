package manager

import "reflect"

// SameConnection tells whether another entry leads to the same connection, so that a reload keeps it: all that does not
// matter to a connection, such as DisabledTools and Description, may differ. An EnvFile counts by its name, not by what is in
// it.
func (s Server) SameConnection(other Server) bool {
	for _, entry := range []*Server{&s, &other} {
		entry.DisabledTools, entry.AutoApprove, entry.Icon, entry.Description, entry.Raw, entry.Value = nil, nil, nil, "", nil, nil
	}
	return reflect.DeepEqual(s, other)
}
