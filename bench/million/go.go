// SPDX-License-Identifier: BSD-3-Clause
// Goroutines, of one processor, by the method of million_bench.hpp; built by `sinew bench million`
// where `go` is. The gate is a channel that is closed.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

// What /proc says, as a number: of this process's memory (its second word) or of the machine's.
func residentBytes() float64 {
	text, err := os.ReadFile("/proc/self/statm")
	words := strings.Fields(string(text))
	if err != nil || len(words) < 2 {
		return 0
	}
	pages, _ := strconv.ParseFloat(words[1], 64)
	return pages * float64(os.Getpagesize())
}

func main() {
	count := 10000
	for _, word := range os.Args[1:] {
		if text, found := strings.CutPrefix(word, "threads="); found {
			if n, err := strconv.Atoi(text); err == nil && n > 0 {
				count = n
			}
		}
	}
	fmt.Printf("@version %s\n", strings.TrimPrefix(runtime.Version(), "go"))
	runtime.GOMAXPROCS(1)
	gate := make(chan bool)
	var waiting, ended sync.WaitGroup
	waiting.Add(count)
	ended.Add(count)
	before := residentBytes()
	begin := time.Now()
	for i := 0; i < count; i++ {
		go func() {
			waiting.Done()
			<-gate
			ended.Done()
		}()
	}
	waiting.Wait()
	spawn := time.Since(begin)
	grown := residentBytes() - before
	begin = time.Now()
	close(gate)
	ended.Wait()
	end := time.Since(begin)
	n := float64(count)
	fmt.Printf("@ crowd-spawn latency ns threads=%d %.9g\n", count, float64(spawn.Nanoseconds())/n)
	fmt.Printf("@ crowd-end latency ns threads=%d %.9g\n", count, float64(end.Nanoseconds())/n)
	fmt.Printf("@ crowd memory B/thread threads=%d %.9g\n", count, grown/n)
}
