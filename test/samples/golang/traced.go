// Goroutines for a simulated trace, which is slow: few of them, which wait for each other, panic,
// recover, and let their stacks grow.
package main

import (
	"os"
	"runtime"
	"sync"
)

//go:noinline
func leaf(i int) int { return i + 1 }

//go:noinline
func receive(values chan int) int { return <-values }

//go:noinline
func worker(values chan int, sums chan int, count int) {
	sum := 0
	for i := 0; i < count; i++ {
		sum += leaf(receive(values))
	}
	sums <- sum
}

//go:noinline
func descend(levels int) int {
	var frame [64]int
	frame[levels%64] = levels
	if levels == 0 {
		return frame[0]
	}
	return descend(levels-1) + frame[levels%64]
}

//go:noinline
func risky(levels int) int {
	if levels == 0 {
		panic("rejected")
	}
	return risky(levels-1) + 1
}

//go:noinline
func guarded(levels int) (result int) {
	defer func() {
		if recover() != nil {
			result = -1
		}
	}()
	return risky(levels)
}

// The simulated trace ends here.
//
//go:noinline
func finish() { os.Stdout.WriteString("done\n") }

func main() {
	runtime.GOMAXPROCS(2)
	values := make(chan int)
	sums := make(chan int)
	for i := 0; i < 3; i++ {
		go worker(values, sums, 8)
	}
	for i := 0; i < 24; i++ {
		values <- i
	}
	for i := 0; i < 3; i++ {
		<-sums
	}
	for i := 0; i < 5; i++ {
		var group sync.WaitGroup
		group.Add(1)
		go func() {
			defer group.Done()
			descend(60)
		}()
		group.Wait()
	}
	for i := 0; i < 5; i++ {
		guarded(i)
	}
	runtime.Gosched()
	finish()
}
