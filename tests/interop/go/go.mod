// Pinned where it matters; no go.sum, so that nothing else is kept here.
module interop

go 1.25.0

require github.com/modelcontextprotocol/go-sdk v1.8.0
