package bridge

// FollowedTasks counts the tasks whose changes are told to clients.
func (b *Bridge) FollowedTasks() int {
	b.tasks.mu.Lock()
	defer b.tasks.mu.Unlock()
	return len(b.tasks.byID)
}
