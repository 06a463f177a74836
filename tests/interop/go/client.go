package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	patience = 30 * time.Second
	short    = 300 * time.Millisecond
	awkward  = "Grüße, 你好, \U0001F600, \"quoted\"\n\\ \u2028 end"
)

type input map[string]any

// A peer is the server, as the checks see it.
type peer struct {
	*answers
	session *mcp.ClientSession
	steps   chan float64  // progress, as it is told
	changes chan struct{} // of the list of tools
	tokens  atomic.Int64
}

// reach takes http://... for Streamable HTTP and sse+http://... for the
// transport of 2024.
func reach(url string) mcp.Transport {
	if address, old := strings.CutPrefix(url, "sse+"); old {
		return &mcp.SSEClientTransport{Endpoint: address}
	}
	return &mcp.StreamableClientTransport{Endpoint: url}
}

// connect opens with initialize if `mode` is "legacy"; otherwise it asks with
// server/discover first.
func connect(ctx context.Context, mode, url string) (*peer, error) {
	p := &peer{
		answers: newAnswers(),
		steps:   make(chan float64, 10000),
		changes: make(chan struct{}, 100),
	}
	hooks := &mcp.ClientOptions{
		ToolListChangedHandler: func(
			context.Context, *mcp.ToolListChangedRequest) {
			p.changes <- struct{}{}
		},
		ProgressNotificationHandler: func(_ context.Context,
			told *mcp.ProgressNotificationClientRequest) {
			p.steps <- told.Params.Progress
		},
	}
	p.hook(hooks)
	client := mcp.NewClient(&mcp.Implementation{Name: "go", Version: "1"},
		hooks)
	client.AddRoots(&mcp.Root{URI: root, Name: "interop"})
	var options mcp.ClientSessionOptions
	if mode == "legacy" {
		options.ProtocolVersion = "2025-11-25"
	}
	var err error
	p.session, err = client.Connect(ctx, reach(url), &options)
	return p, err
}

func (p *peer) call(ctx context.Context, tool string,
	arguments input) (*mcp.CallToolResult, error) {
	params := &mcp.CallToolParams{Name: tool, Arguments: arguments}
	params.SetProgressToken(p.tokens.Add(1))
	return p.session.CallTool(ctx, params)
}

// text is what a tool that must not fail has to say.
func (p *peer) text(ctx context.Context, tool string,
	arguments input) (string, error) {
	result, err := p.call(ctx, tool, arguments)
	if err != nil {
		return "", err
	}
	return textOf(result), nil
}

func textOf(result *mcp.CallToolResult) string {
	if len(result.Content) == 0 {
		return ""
	}
	text, _ := result.Content[0].(*mcp.TextContent)
	if text == nil {
		return ""
	}
	return text.Text
}

func expect(truth bool, why any) error {
	if truth {
		return nil
	}
	return fmt.Errorf("%.200v", why)
}

func (p *peer) has(ctx context.Context, wanted ...string) error {
	result, err := p.session.ListTools(ctx, nil)
	if err != nil {
		return err
	}
	var names []string
	for _, tool := range result.Tools {
		names = append(names, tool.Name)
	}
	for _, name := range wanted {
		if !slices.Contains(names, name) {
			return fmt.Errorf("no %s in %v", name, names)
		}
	}
	return nil
}

func list(ctx context.Context, p *peer) error {
	return p.has(ctx, "echo", "add", "slow", "fail", "large")
}

func echo(ctx context.Context, p *peer) error {
	text, err := p.text(ctx, "echo", input{"text": awkward})
	return errors.Join(err, expect(text == awkward, text))
}

func add(ctx context.Context, p *peer) error {
	text, err := p.text(ctx, "add", input{"a": 2, "b": 3})
	if err != nil {
		return err
	}
	sum, err := strconv.ParseFloat(text, 64)
	return errors.Join(err, expect(sum == 5, text))
}

func (p *peer) forget() {
	for len(p.steps) > 0 {
		<-p.steps
	}
}

// next is a step that was told, perhaps after the result it belongs to.
func (p *peer) next(ctx context.Context) (float64, error) {
	select {
	case step := <-p.steps:
		return step, nil
	case <-ctx.Done():
		return 0, errors.New("a step was not told")
	}
}

func progress(ctx context.Context, p *peer) error {
	p.forget()
	_, err := p.text(ctx, "slow", input{"steps": 5, "delay_ms": 10})
	for wanted := 1.0; err == nil && wanted <= 5; wanted++ {
		var step float64
		if step, err = p.next(ctx); err == nil {
			err = expect(step == wanted, step)
		}
	}
	return err
}

func fail(ctx context.Context, p *peer) error {
	result, err := p.call(ctx, "fail", input{"message": "on purpose"})
	if err != nil {
		return err
	}
	said := strings.Contains(textOf(result), "on purpose")
	return expect(result.IsError && said, textOf(result))
}

func large(ctx context.Context, p *peer) error {
	text, err := p.text(ctx, "large", input{"bytes": 1_000_000})
	return errors.Join(err, expect(len(text) == 1_000_000, len(text)))
}

func unknown(ctx context.Context, p *peer) error {
	result, err := p.call(ctx, "no-such-tool", input{})
	var refusal *jsonrpc.Error
	if !errors.As(err, &refusal) {
		return fmt.Errorf("%v, %v", result, err)
	}
	return expect(refusal.Code == jsonrpc.CodeInvalidParams, refusal)
}

func together(ctx context.Context, p *peer) error {
	errs := make([]error, 51)
	var group sync.WaitGroup
	for n := range 50 {
		group.Go(func() {
			wanted := fmt.Sprintf("number %d", n)
			text, err := p.text(ctx, "echo", input{"text": wanted})
			errs[n] = errors.Join(err, expect(text == wanted, text))
		})
	}
	_, errs[50] = p.text(ctx, "slow", input{"steps": 2, "delay_ms": 50})
	group.Wait()
	return errors.Join(errs...)
}

// cancel expects no progress any more, once a request sent after the
// cancellation is answered.
func cancel(ctx context.Context, p *peer) error {
	p.forget()
	part, stop := context.WithCancel(ctx)
	done := make(chan error)
	go func() {
		_, err := p.text(part, "slow", input{"steps": 1000, "delay_ms": 20})
		done <- err
	}()
	_, err := p.next(ctx)
	stop()
	cancelled := <-done
	if err != nil || cancelled == nil {
		return fmt.Errorf("%v; the call ended with %v", err, cancelled)
	}
	if _, err = p.text(ctx, "echo", input{"text": "still there"}); err != nil {
		return err
	}
	time.Sleep(short)
	p.forget()
	time.Sleep(short)
	late := len(p.steps)
	return expect(late == 0, fmt.Sprintf("%d notifications late", late))
}

func changed(ctx context.Context, p *peer) error {
	if _, err := p.text(ctx, "unlock", input{}); err != nil {
		return err
	}
	select {
	case <-p.changes:
		return p.has(ctx, "vault")
	case <-ctx.Done():
		return errors.New("it was not told")
	}
}

// pause is a moment to wait for word.
func pause() <-chan time.Time {
	return time.After(short / 10)
}

func ping(ctx context.Context, p *peer) error {
	return p.session.Ping(ctx, nil)
}

var checks = []struct {
	name string
	run  func(context.Context, *peer) error
}{
	{"list", list}, {"echo", echo}, {"add", add}, {"progress", progress},
	{"fail", fail}, {"large", large}, {"unknown", unknown},
	{"together", together}, {"cancel", cancel}, {"changed", changed},
	{"invalid", invalid}, {"resources", resources}, {"read-text", readText},
	{"read-bytes", readBytes}, {"read-template", readTemplate},
	{"read-missing", readMissing}, {"subscribe", subscribe},
	{"prompts", prompts}, {"prompt", prompt}, {"complete", complete},
	{"log", log}, {"accept", accept}, {"decline", decline},
	{"sample", sample}, {"roots", roots}, {"ping", ping},
}

func report(name string, err error) bool {
	if err == nil {
		fmt.Println("pass", name)
	} else {
		fmt.Println("fail", name, strings.Join(strings.Fields(err.Error()), " "))
	}
	return err == nil
}

// prove prints one line for each check, "pass NAME", "fail NAME why" or "skip
// NAME why"; run.py knows which must appear.
func prove(mode, revision, url string) {
	opening, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	p, err := connect(opening, mode, url)
	if err != nil {
		report("revision", err)
		return
	}
	agreed := p.session.InitializeResult().ProtocolVersion
	report("revision", expect(agreed == revision, agreed))
	for _, check := range checks {
		if check.name == "ping" && revision >= "2026" {
			continue
		}
		ctx, stop := context.WithTimeout(context.Background(), patience)
		report(check.name, check.run(ctx, p))
		stop()
	}
	fmt.Println("skip task this SDK has no tasks")
	p.session.Close()
}
