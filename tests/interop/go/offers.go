package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// What the demo server has besides tools that compute.

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAAC0lEQVR42mNgA" +
	"AIAAAUAAen63NgAAAAASUVORK5CYII="

type nothing struct{}

func takeSubscription(context.Context, *mcp.SubscribeRequest) error {
	return nil
}

func endSubscription(context.Context, *mcp.UnsubscribeRequest) error {
	return nil
}

func completeName(_ context.Context,
	request *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	var values []string
	for _, name := range []string{"Ada", "Alan", "Barbara", "Grace"} {
		if strings.HasPrefix(name, request.Params.Argument.Value) {
			values = append(values, name)
		}
	}
	return &mcp.CompleteResult{
		Completion: mcp.CompletionResultDetails{Values: values}}, nil
}

func addResources(server *mcp.Server) {
	picture, _ := base64.StdEncoding.DecodeString(pixel)
	resources := map[string]*mcp.ResourceContents{
		"hello": {MIMEType: "text/plain", Text: "Hello there.\n"},
		"pixel": {MIMEType: "image/png", Blob: picture},
		"time":  {MIMEType: "text/plain", Text: "now"},
	}
	for name, contents := range resources {
		contents.URI = "demo://" + name
		server.AddResource(&mcp.Resource{Name: name, URI: contents.URI},
			func(context.Context,
				*mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
				return &mcp.ReadResourceResult{
					Contents: []*mcp.ResourceContents{contents}}, nil
			})
	}
	server.AddResourceTemplate(&mcp.ResourceTemplate{Name: "greeting",
		URITemplate: "demo://greeting/{name}"},
		func(_ context.Context,
			request *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			uri := request.Params.URI
			name := strings.TrimPrefix(uri, "demo://greeting/")
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{
				{URI: uri, Text: fmt.Sprintf("Hello, %s!", name)}}}, nil
		})
}

func addPrompt(server *mcp.Server) {
	server.AddPrompt(&mcp.Prompt{Name: "greeting",
		Arguments: []*mcp.PromptArgument{{Name: "name", Required: true}}},
		func(_ context.Context,
			request *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			text := fmt.Sprintf("Greet %s.", request.Params.Arguments["name"])
			return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{
				{Role: "user", Content: &mcp.TextContent{Text: text}}}}, nil
		})
}

// ask has the client answer `question`; who is of old is asked by the SDK.
func ask[In, Answer any](server *mcp.Server, name string,
	question func(In) mcp.InputRequest, said func(Answer) string) {
	mcp.AddTool(server, &mcp.Tool{Name: name, Description: name},
		func(_ context.Context, request *mcp.CallToolRequest,
			in In) (*mcp.CallToolResult, any, error) {
			found, ok := request.Params.InputResponses[name]
			if !ok {
				return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{
					name: question(in)}}, nil, nil
			}
			answer, ok := found.(Answer)
			if !ok {
				return nil, nil, errors.New("that is no answer")
			}
			return say(said(answer))
		})
}

func addQuestions(server *mcp.Server) {
	form := map[string]any{"type": "object", "properties": map[string]any{
		"name": map[string]any{"type": "string", "default": "nobody"},
		"age":  map[string]any{"type": "integer", "default": 36},
	}, "required": []string{"name"}}
	ask(server, "ask", func(nothing) mcp.InputRequest {
		return &mcp.ElicitParams{Mode: "form", Message: "Who are you?",
			RequestedSchema: form}
	}, func(answer *mcp.ElicitResult) string {
		if answer.Action != "accept" {
			return answer.Action
		}
		return fmt.Sprintf("Hello, %v, %v!", answer.Content["name"],
			answer.Content["age"])
	})
	type question struct {
		Question string `json:"question"`
	}
	ask(server, "consult", func(in question) mcp.InputRequest {
		return &mcp.CreateMessageParams{MaxTokens: 100,
			Messages: []*mcp.SamplingMessage{{Role: "user",
				Content: &mcp.TextContent{Text: in.Question}}}}
	}, func(answer *mcp.CreateMessageResult) string {
		return answer.Model
	})
	ask(server, "roots", func(nothing) mcp.InputRequest {
		return &mcp.ListRootsParams{}
	}, func(answer *mcp.ListRootsResult) string {
		var uris []string
		for _, root := range answer.Roots {
			uris = append(uris, root.URI)
		}
		return strings.Join(uris, " ")
	})
}

func addNews(server *mcp.Server) {
	type noted struct {
		Text string `json:"text"`
	}
	mcp.AddTool(server, &mcp.Tool{Name: "note", Description: "note"},
		func(ctx context.Context, request *mcp.CallToolRequest,
			in noted) (*mcp.CallToolResult, any, error) {
			err := request.Session.Log(ctx, &mcp.LoggingMessageParams{
				Level: "debug", Logger: "demo", Data: "a note"})
			if err == nil {
				err = request.Session.Log(ctx, &mcp.LoggingMessageParams{
					Level: "warning", Logger: "demo", Data: in.Text})
			}
			if err != nil {
				return nil, nil, err
			}
			return say("noted")
		})
	mcp.AddTool(server, &mcp.Tool{Name: "tick", Description: "tick"},
		func(ctx context.Context, _ *mcp.CallToolRequest,
			_ nothing) (*mcp.CallToolResult, any, error) {
			err := server.ResourceUpdated(ctx,
				&mcp.ResourceUpdatedNotificationParams{URI: "demo://time"})
			if err != nil {
				return nil, nil, err
			}
			return say("tock")
		})
}

func addOffers(server *mcp.Server) {
	addResources(server)
	addPrompt(server)
	addQuestions(server)
	addNews(server)
}
