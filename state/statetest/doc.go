// Package statetest holds implementations of the interfaces of package state to what those promise. [Sessions], [Log] and
// [Bus] are the contract: an implementation is one when its test calls them and they pass.
//
//	func TestSessions(t *testing.T) {
//		statetest.Sessions(t, statetest.World{}, func(t *testing.T, limits state.SessionLimits) (a, b state.SessionStore) {
//			return open(t, limits), open(t, limits) // two replicas on the same, new database
//		})
//	}
//
// Every subtest asks for new, empty stores twice over, as two replicas would hold them; an implementation in memory
// returns the same value twice. What it opens it closes with [testing.T.Cleanup].
package statetest
