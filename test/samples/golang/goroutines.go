// Calls of goroutines whose numbers and waits are known by construction. Each mode prints its counts
// (to the file that RESULTS names), and, for each call of the measured function, the time between two
// clocks inside it and between two clocks around it, in ns: the true latency lies between them.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

type span struct{ inner, outer int64 }

type spans struct {
	mutex sync.Mutex
	all   []span
}

func (s *spans) add(inner, outer int64) {
	s.mutex.Lock()
	s.all = append(s.all, span{inner, outer})
	s.mutex.Unlock()
}

var origin = time.Now()

var results = os.Stdout

func now() int64 { return int64(time.Since(origin)) }

// Waits for a value of the channel.
//
//go:noinline
func receive(values chan int) (inner int64) {
	start := now()
	<-values
	return now() - start
}

// Receives `each` values in each of `workers` goroutines. A sender waits before each value.
func channel(workers, each int, wait time.Duration) {
	values := make(chan int)
	var times spans
	var group sync.WaitGroup
	for worker := 0; worker < workers; worker++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := 0; i < each; i++ {
				start := now()
				inner := receive(values)
				times.add(inner, now()-start)
			}
		}()
	}
	for i := 0; i < workers*each; i++ {
		time.Sleep(wait)
		values <- i
	}
	group.Wait()
	fmt.Fprintln(results, "receive", workers*each)
	printSpans(times.all)
}

type Job[T any] struct {
	value T
	done  chan T
}

// Works on a job, and lets other goroutines run in the midst of it.
//
//go:noinline
func (job *Job[T]) work(pause chan struct{}) (inner int64) {
	start := now()
	spin(20)
	runtime.Gosched()
	pause <- struct{}{}
	spin(20)
	return now() - start
}

func spin(microseconds int64) {
	for end := now() + microseconds*1000; now() < end; {
	}
}

// Lets workers do jobs. In each job a worker waits for a goroutine that all of them share.
func pool(workers, each int) {
	pause := make(chan struct{})
	go func() {
		for range pause {
		}
	}()
	var times spans
	var group sync.WaitGroup
	for worker := 0; worker < workers; worker++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := 0; i < each; i++ {
				job := &Job[int]{value: i}
				start := now()
				inner := job.work(pause)
				times.add(inner, now()-start)
			}
		}()
	}
	group.Wait()
	fmt.Fprintln(results, "work", workers*each)
	printSpans(times.all)
}

// Recursion that makes the stack grow, and move, inside the outermost call.
//
//go:noinline
func descend(levels int) int {
	var frame [64]int
	frame[levels%64] = levels
	if levels == 0 {
		return frame[0]
	}
	return descend(levels-1) + frame[levels%64] - levels
}

func depth(goroutines, levels int) {
	var times spans
	for i := 0; i < goroutines; i++ {
		done := make(chan bool)
		go func() {
			start := now()
			descend(levels)
			times.add(0, now()-start)
			done <- true
		}()
		<-done
		runtime.GC() // the stacks of ended goroutines shrink
	}
	fmt.Fprintln(results, "descend", goroutines*(levels+1))
	printSpans(times.all)
}

//go:noinline
func risky(i int) int {
	if i%5 == 0 {
		panic("rejected")
	}
	return i + 1
}

//go:noinline
func guarded(i int) (result int) {
	defer func() {
		if recover() != nil {
			result = -1
		}
	}()
	return risky(i)
}

func panics(count int) {
	rejected := 0
	for i := 0; i < count; i++ {
		if guarded(i) == -1 {
			rejected++
		}
	}
	fmt.Fprintln(results, "guarded", count)
	fmt.Fprintln(results, "rejected", rejected)
}

//go:noinline
func abandon(i int) int {
	if i%2 == 0 {
		runtime.Goexit()
	}
	return i
}

// Every other goroutine ends inside abandon. The next one gets its descriptor and its stack.
func exits(count int) {
	for i := 0; i < count; i++ {
		var group sync.WaitGroup
		group.Add(1)
		go func() {
			defer group.Done()
			abandon(i)
		}()
		group.Wait()
	}
	time.Sleep(200 * time.Millisecond)
	fmt.Fprintln(results, "abandon", count)
}

// Is preempted at its loops, and calls a function whose check of the stack is where the scheduler
// stops goroutines that ask.
//
//go:noinline
func busy(rounds int) int {
	sum := 0
	for i := 0; i < rounds; i++ {
		sum += step(i)
	}
	return sum
}

//go:noinline
func step(i int) int {
	var frame [128]int
	frame[i%128] = i
	return frame[(i+1)%128] + i
}

func preempted(workers, each int) {
	var group sync.WaitGroup
	var stop atomic.Bool
	go func() {
		for !stop.Load() {
			runtime.GC() // stops all goroutines
		}
	}()
	var times spans
	for worker := 0; worker < workers; worker++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := 0; i < each; i++ {
				start := now()
				busy(2_000)
				times.add(0, now()-start)
			}
		}()
	}
	group.Wait()
	stop.Store(true)
	fmt.Fprintln(results, "busy", workers*each)
	printSpans(times.all)
}

func printSpans(all []span) {
	for _, each := range all {
		fmt.Fprintln(results, "span", each.inner, each.outer)
	}
}

func number(at int) int {
	value, err := strconv.Atoi(os.Args[at])
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	runtime.GOMAXPROCS(2)
	if path := os.Getenv("RESULTS"); path != "" {
		file, err := os.Create(path)
		if err != nil {
			panic(err)
		}
		results = file
	}
	switch os.Args[1] {
	case "channel":
		channel(number(2), number(3), time.Duration(number(4))*time.Microsecond)
	case "pool":
		pool(number(2), number(3))
	case "depth":
		depth(number(2), number(3))
	case "panics":
		panics(number(2))
	case "exits":
		exits(number(2))
	case "preempted":
		preempted(number(2), number(3))
	}
}
