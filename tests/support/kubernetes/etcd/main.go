// Command etcd is etcd's own server; its module cannot be built from another module by name alone.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() { etcdmain.Main(os.Args) }
