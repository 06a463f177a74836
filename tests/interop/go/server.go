package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type slowInput struct {
	Steps   int `json:"steps"`
	DelayMs int `json:"delay_ms"`
}

func say(text string) (*mcp.CallToolResult, any, error) {
	return &mcp.CallToolResult{
		Content: []mcp.Content{&mcp.TextContent{Text: text}},
	}, nil, nil
}

// tool registers a function of the arguments.
func tool[In any](server *mcp.Server, name string,
	run func(In) (string, error)) {
	mcp.AddTool(server, &mcp.Tool{Name: name, Description: name},
		func(_ context.Context, _ *mcp.CallToolRequest,
			in In) (*mcp.CallToolResult, any, error) {
			text, err := run(in)
			if err != nil {
				return nil, nil, err
			}
			return say(text)
		})
}

// stopped counts the calls of slow that were cancelled.
var stopped atomic.Int32

func slow(ctx context.Context, request *mcp.CallToolRequest,
	in slowInput) (*mcp.CallToolResult, any, error) {
	token := request.Params.GetProgressToken()
	for step := 1; step <= in.Steps; step++ {
		select {
		case <-ctx.Done():
			stopped.Add(1)
			return nil, nil, ctx.Err()
		case <-time.After(time.Duration(in.DelayMs) * time.Millisecond):
		}
		if token == nil {
			continue
		}
		err := request.Session.NotifyProgress(ctx,
			&mcp.ProgressNotificationParams{ProgressToken: token,
				Progress: float64(step), Total: float64(in.Steps)})
		if err != nil && ctx.Err() == nil {
			return nil, nil, err
		}
	}
	return say(fmt.Sprintf("%d steps", in.Steps))
}

func newServer() *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "go", Version: "1"},
		&mcp.ServerOptions{
			CompletionHandler:  completeName,
			SubscribeHandler:   takeSubscription,
			UnsubscribeHandler: endSubscription,
		})
	addOffers(server)
	tool(server, "echo", func(in struct {
		Text string `json:"text"`
	}) (string, error) {
		return in.Text, nil
	})
	tool(server, "add", func(in struct {
		A float64 `json:"a"`
		B float64 `json:"b"`
	}) (string, error) {
		return fmt.Sprint(in.A + in.B), nil
	})
	tool(server, "large", func(in struct {
		Bytes int `json:"bytes"`
	}) (string, error) {
		return strings.Repeat("x", in.Bytes), nil
	})
	tool(server, "fail", func(in struct {
		Message string `json:"message"`
	}) (string, error) {
		return "", errors.New(in.Message)
	})
	tool(server, "stopped", func(struct{}) (string, error) {
		return fmt.Sprintf("%d stopped", stopped.Load()), nil
	})
	tool(server, "unlock", func(struct{}) (string, error) {
		tool(server, "vault", func(struct{}) (string, error) {
			return "dust", nil
		})
		return "unlocked", nil
	})
	mcp.AddTool(server, &mcp.Tool{Name: "slow", Description: "slow"}, slow)
	return server
}

// serve has all revisions at /mcp and HTTP+SSE at /sse. With this SDK, a
// handler serves either sessions or 2026-07-28.
func serve(port string) error {
	server := newServer()
	get := func(*http.Request) *mcp.Server { return server }
	legacy := mcp.NewStreamableHTTPHandler(get, nil)
	modern := mcp.NewStreamableHTTPHandler(get,
		&mcp.StreamableHTTPOptions{Stateless: true,
			PropagateRequestCancellation: true})
	http.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Protocol-Version") >= "2026" {
			modern.ServeHTTP(w, r)
		} else {
			legacy.ServeHTTP(w, r)
		}
	})
	http.Handle("/sse", mcp.NewSSEHandler(get, nil))
	return http.ListenAndServe("127.0.0.1:"+port, nil)
}
