// SPDX-License-Identifier: BSD-3-Clause
// Goroutines, by the method of threads_bench.hpp; built by `sinew bench threads` where `go` is. A
// signal and a round trip are what Go's users would write: a send into a channel that has room for
// one. Go places goroutines itself, so with two processors it may run both ends on one.
package main

import (
	"fmt"
	"os"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
)

func report(name string, fibers int, ns float64) {
	fmt.Printf("@ %s latency ns fibers=%d %.9g\n", name, fibers, ns)
}

// The median of what batch returns, until the budget is spent.
func repeat(budget time.Duration, batch func() float64) float64 {
	var samples []float64
	for end := time.Now().Add(budget); len(samples) < 5 || time.Now().Before(end); {
		samples = append(samples, batch())
	}
	sort.Float64s(samples)
	return samples[len(samples)/2]
}

func each(begin time.Time, times int) float64 {
	return float64(time.Since(begin).Nanoseconds()) / float64(times)
}

func yield(n, times int) float64 {
	var all sync.WaitGroup
	all.Add(n)
	begin := time.Now()
	for i := 0; i < n; i++ {
		go func() {
			for y := 0; y < times; y++ {
				runtime.Gosched()
			}
			all.Done()
		}()
	}
	all.Wait()
	return each(begin, n*times)
}

func signal(n int, budget time.Duration) float64 {
	gates := make([]chan bool, n)
	var woken, ended sync.WaitGroup
	ended.Add(n)
	for i := range gates {
		gates[i] = make(chan bool, 1)
		go func(gate chan bool) {
			for <-gate {
				woken.Done()
			}
			ended.Done()
		}(gates[i])
	}
	result := repeat(budget, func() float64 {
		woken.Add(n)
		time.Sleep(50 * time.Microsecond) // until the last of them waits
		begin := time.Now()
		for _, gate := range gates {
			gate <- true
		}
		ns := each(begin, n)
		woken.Wait()
		return ns
	})
	for _, gate := range gates {
		gate <- false
	}
	ended.Wait()
	return result
}

func roundTrip(budget time.Duration) float64 {
	const trips = 500
	there, back := make(chan bool, 1), make(chan bool, 1)
	go func() {
		for <-there {
			back <- true
		}
		close(back)
	}()
	result := repeat(budget, func() float64 {
		begin := time.Now()
		for i := 0; i < trips; i++ {
			there <- true
			<-back
		}
		return each(begin, trips)
	})
	there <- false
	<-back
	return result
}

func spawnJoin() float64 {
	const many = 500
	begin := time.Now()
	for i := 0; i < many; i++ {
		done := make(chan bool)
		go close(done)
		<-done
	}
	return each(begin, many)
}

func main() {
	budget := 50 * time.Millisecond
	for _, word := range os.Args[1:] {
		if text, found := strings.CutPrefix(word, "budget_ms="); found {
			if ms, err := strconv.ParseFloat(text, 64); err == nil {
				budget = time.Duration(ms * float64(time.Millisecond))
			}
		}
	}
	fmt.Printf("@version %s\n", strings.TrimPrefix(runtime.Version(), "go"))
	runtime.GOMAXPROCS(1)
	for _, crowd := range [][2]int{{2, 5000}, {64, 5000}, {1024, 2000}} {
		report("yield", crowd[0], repeat(budget, func() float64 { return yield(crowd[0], crowd[1]) }))
	}
	report("spawn-join", 1, repeat(budget, spawnJoin))
	runtime.GOMAXPROCS(2)
	report("signal", 64, signal(64, budget))
	report("round-trip", 2, roundTrip(budget))
}
