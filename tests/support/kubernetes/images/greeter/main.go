// Command greeter is what test pods run. It prints one line for `kubectl logs` to find and then
// serves that line over HTTP on port 8080; `greeter say WORDS` prints the words, for `kubectl exec`.
package main

import (
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
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
	greeting := "greetings from " + name
	fmt.Println(greeting)
	http.HandleFunc("/", func(answer http.ResponseWriter, _ *http.Request) { fmt.Fprintln(answer, greeting) })
	log.Fatal(http.ListenAndServe(":8080", nil))
}
