// Command greeter is what test pods run. It prints one line for `kubectl logs` to find and then
// serves that line over HTTP on port 8080; `greeter say WORDS` prints the words, for `kubectl exec`.
// `greeter leave DURATION DIRECTORY` leaves only that long after a SIGTERM, and notes both in files;
// `greeter note WHAT DIRECTORY` notes something else.
package main

import (
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) > 2 && os.Args[1] == "say" {
		fmt.Println(strings.Join(os.Args[2:], " "))
		return
	}
	name, err := os.Hostname()
	if err != nil {
		log.Fatalf("this pod has no name: %v", err)
	}
	if len(os.Args) == 4 && os.Args[1] == "leave" {
		leave(name, os.Args[2], os.Args[3])
		return
	}
	if len(os.Args) == 4 && os.Args[1] == "note" {
		note(name, os.Args[2], os.Args[3])
		return
	}
	greeting := "greetings from " + name
	fmt.Println(greeting)
	http.HandleFunc("/", func(answer http.ResponseWriter, _ *http.Request) { fmt.Fprintln(answer, greeting) })
	log.Fatal(http.ListenAndServe(":8080", nil))
}

func leave(name, duration, directory string) {
	patience, err := time.ParseDuration(duration)
	if err != nil {
		log.Fatal(err)
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	note(name, "started", directory)
	<-signals
	note(name, "terminated", directory)
	time.Sleep(patience)
	note(name, "left", directory)
}

func note(name, what, directory string) {
	if err := os.WriteFile(filepath.Join(directory, name+"."+what), nil, 0o644); err != nil {
		log.Fatal(err)
	}
}
