package llm

import "sync"

// all runs f for 0 to n-1, at most so many at once, and returns when all have ended.
func all(n, atOnce int, f func(i int)) {
	places := make(chan struct{}, max(atOnce, 1))
	var running sync.WaitGroup
	for i := range n {
		places <- struct{}{}
		running.Go(func() {
			defer func() { <-places }()
			f(i)
		})
	}
	running.Wait()
}
