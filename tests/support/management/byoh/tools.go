//go:build tools

// Package tools names the programs of the BYOH provider that the testbed builds, so that go.mod
// and go.sum hold everything they need.
package tools

import (
	_ "github.com/vmware-tanzu/cluster-api-provider-bringyourownhost"
	_ "github.com/vmware-tanzu/cluster-api-provider-bringyourownhost/agent"
)
