package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// What the demo server offers besides tools, and what it asks.

const root = "file:///srv/interop"

// answers is what the server is told when it asks, and what it told.
type answers struct {
	form    map[string]any // nil: decline
	asked   *mcp.ElicitParams
	lines   chan *mcp.LoggingMessageParams
	updated chan string
}

func newAnswers() *answers {
	return &answers{
		lines:   make(chan *mcp.LoggingMessageParams, 100),
		updated: make(chan string, 100),
	}
}

// hook has the client use them.
func (a *answers) hook(options *mcp.ClientOptions) {
	options.ElicitationHandler = func(_ context.Context,
		request *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		a.asked = request.Params
		if a.form == nil {
			return &mcp.ElicitResult{Action: "decline"}, nil
		}
		return &mcp.ElicitResult{Action: "accept", Content: a.form}, nil
	}
	options.CreateMessageHandler = func(_ context.Context,
		request *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
		said := request.Params.Messages[0].Content.(*mcp.TextContent).Text
		return &mcp.CreateMessageResult{Role: "assistant", Model: "parrot",
			Content: &mcp.TextContent{Text: said + "!"}}, nil
	}
	options.LoggingMessageHandler = func(_ context.Context,
		told *mcp.LoggingMessageRequest) {
		a.lines <- told.Params
	}
	options.ResourceUpdatedHandler = func(_ context.Context,
		told *mcp.ResourceUpdatedNotificationRequest) {
		a.updated <- told.Params.URI
	}
}

func (p *peer) isModern() bool {
	return p.session.InitializeResult().ProtocolVersion >= "2026"
}

func invalid(ctx context.Context, p *peer) error {
	result, err := p.call(ctx, "add", input{"a": "two", "b": 3})
	if err != nil {
		return err
	}
	return expect(result.IsError, textOf(result))
}

func resources(ctx context.Context, p *peer) error {
	listed, err := p.session.ListResources(ctx, nil)
	if err != nil {
		return err
	}
	var uris []string
	for _, one := range listed.Resources {
		uris = append(uris, one.URI)
	}
	slices.Sort(uris)
	templates, err := p.session.ListResourceTemplates(ctx, nil)
	if err != nil {
		return err
	}
	for _, one := range templates.ResourceTemplates {
		uris = append(uris, one.URITemplate)
	}
	return expect(strings.Join(uris, " ") == "demo://hello demo://pixel "+
		"demo://time demo://greeting/{name}", uris)
}

func (p *peer) read(ctx context.Context,
	uri string) (*mcp.ResourceContents, error) {
	result, err := p.session.ReadResource(ctx,
		&mcp.ReadResourceParams{URI: uri})
	if err != nil {
		return nil, err
	}
	if len(result.Contents) != 1 {
		return nil, fmt.Errorf("%d contents", len(result.Contents))
	}
	return result.Contents[0], nil
}

func readText(ctx context.Context, p *peer) error {
	found, err := p.read(ctx, "demo://hello")
	if err != nil {
		return err
	}
	return expect(found.Text == "Hello from fairlead.\n" &&
		found.MIMEType == "text/plain", *found)
}

func readBytes(ctx context.Context, p *peer) error {
	found, err := p.read(ctx, "demo://pixel")
	if err != nil {
		return err
	}
	return expect(bytes.HasPrefix(found.Blob, []byte("\x89PNG")) &&
		len(found.Blob) == 68, *found)
}

func readTemplate(ctx context.Context, p *peer) error {
	found, err := p.read(ctx, "demo://greeting/Ada%20L")
	if err != nil {
		return err
	}
	return expect(found.Text == "Hello, Ada L!", *found)
}

// Of old this had a code of its own.
func readMissing(ctx context.Context, p *peer) error {
	found, err := p.read(ctx, "demo://nothing")
	wanted := int64(-32002)
	if p.isModern() {
		wanted = jsonrpc.CodeInvalidParams
	}
	var refusal *jsonrpc.Error
	if !errors.As(err, &refusal) {
		return fmt.Errorf("%v, %v", found, err)
	}
	return expect(refusal.Code == wanted, refusal)
}

// A modern subscription is asked for, but its acknowledgement not waited for:
// so the tool is called until there is word.
func subscribe(ctx context.Context, p *peer) error {
	uri := "demo://time"
	err := p.session.Subscribe(ctx, &mcp.SubscribeParams{URI: uri})
	if err != nil {
		return err
	}
	for {
		if _, err = p.text(ctx, "tick", input{}); err != nil {
			return err
		}
		select {
		case told := <-p.updated:
			return errors.Join(expect(told == uri, told), p.session.Unsubscribe(
				ctx, &mcp.UnsubscribeParams{URI: uri}))
		case <-pause():
		case <-ctx.Done():
			return errors.New("it was not told")
		}
	}
}

func prompts(ctx context.Context, p *peer) error {
	listed, err := p.session.ListPrompts(ctx, nil)
	if err != nil {
		return err
	}
	if len(listed.Prompts) != 1 || len(listed.Prompts[0].Arguments) != 2 {
		return fmt.Errorf("%v", listed.Prompts)
	}
	arguments := listed.Prompts[0].Arguments
	return expect(listed.Prompts[0].Name == "greeting" &&
		arguments[0].Name == "name" && arguments[0].Required &&
		arguments[1].Name == "style" && !arguments[1].Required, arguments)
}

func prompt(ctx context.Context, p *peer) error {
	got, err := p.session.GetPrompt(ctx, &mcp.GetPromptParams{Name: "greeting",
		Arguments: map[string]string{"name": "Ada", "style": "formal"}})
	if err != nil {
		return err
	}
	if len(got.Messages) != 3 {
		return fmt.Errorf("%d messages", len(got.Messages))
	}
	first, _ := got.Messages[0].Content.(*mcp.TextContent)
	_, embedded := got.Messages[1].Content.(*mcp.EmbeddedResource)
	return expect(first != nil && embedded &&
		first.Text == "Greet Ada, and mind your manners." &&
		got.Messages[2].Role == "assistant", got.Messages)
}

func complete(ctx context.Context, p *peer) error {
	for _, ref := range []*mcp.CompleteReference{
		{Type: "ref/prompt", Name: "greeting"},
		{Type: "ref/resource", URI: "demo://greeting/{name}"},
	} {
		result, err := p.session.Complete(ctx, &mcp.CompleteParams{Ref: ref,
			Argument: mcp.CompleteParamsArgument{Name: "name", Value: "A"}})
		if err != nil {
			return err
		}
		values := result.Completion.Values
		if !slices.Equal(values, []string{"Ada", "Alan"}) {
			return fmt.Errorf("%v", values)
		}
	}
	return nil
}

// note asks for its log: in the request itself, or in one before it.
func (p *peer) note(ctx context.Context, text string) error {
	params := &mcp.CallToolParams{Name: "note", Arguments: input{"text": text}}
	if p.isModern() {
		params.Meta = mcp.Meta{mcp.MetaKeyLogLevel: "warning"}
	} else if err := p.session.SetLoggingLevel(ctx,
		&mcp.SetLoggingLevelParams{Level: "warning"}); err != nil {
		return err
	}
	_, err := p.session.CallTool(ctx, params)
	return err
}

// The tool says something at "debug", too, which must not come: it would be
// the first.
func log(ctx context.Context, p *peer) error {
	if err := p.note(ctx, "careful"); err != nil {
		return err
	}
	select {
	case line := <-p.lines:
		return expect(line.Level == "warning" && line.Logger == "demo" &&
			line.Data == "careful", *line)
	case <-ctx.Done():
		return errors.New("it was not told")
	}
}

func accept(ctx context.Context, p *peer) error {
	p.form = map[string]any{"name": "Ada", "age": 36}
	text, err := p.text(ctx, "ask", input{})
	if err != nil {
		return err
	}
	return expect(text == "Hello, Ada!" && p.asked.Message == "Who are you?",
		text)
}

func decline(ctx context.Context, p *peer) error {
	p.form = nil
	text, err := p.text(ctx, "ask", input{})
	return errors.Join(err, expect(text == "As you like.", text))
}

func sample(ctx context.Context, p *peer) error {
	text, err := p.text(ctx, "consult", input{"question": "Who is there"})
	return errors.Join(err, expect(text == "Who is there!", text))
}

func roots(ctx context.Context, p *peer) error {
	result, err := p.call(ctx, "roots", input{})
	if err != nil {
		return err
	}
	told := fmt.Sprint(result.StructuredContent)
	return expect(textOf(result) == "1 roots" && strings.Contains(told, root),
		told)
}
