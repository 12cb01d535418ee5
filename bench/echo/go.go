// SPDX-License-Identifier: BSD-3-Clause
// The echo server in Go: a goroutine for each connection. Built by `sinew bench echo` where `go` is.
package main

import (
	"fmt"
	"net"
	"os"
)

func serve(client net.Conn) {
	defer client.Close()
	buffer := make([]byte, 4096)
	for {
		got, err := client.Read(buffer)
		if err != nil {
			return
		}
		if _, err := client.Write(buffer[:got]); err != nil {
			return
		}
	}
}

func main() {
	listener, err := net.Listen("unix", os.Args[len(os.Args)-1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "go: cannot listen:", err)
		os.Exit(1)
	}
	for {
		if client, err := listener.Accept(); err == nil {
			go serve(client)
		}
	}
}
