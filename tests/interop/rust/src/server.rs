//! The demo's tools, and what it offers besides, over Streamable HTTP of all revisions.

use std::borrow::Cow;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult,
    CompleteRequestParams, CompleteResult, ContentBlock,
    GetPromptRequestParams, GetPromptResponse, GetPromptResult,
    Implementation, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, LoggingLevel,
    PaginatedRequestParams, ProgressNotificationParam,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    ResourceUpdatedNotificationParam, ServerConfig, SetLevelRequestParams,
    SubscribeRequestParams, SubscriptionFilter, Tool,
    UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::transport::streamable_http_server::{
    session::local::LocalSessionManager, StreamableHttpServerConfig,
    StreamableHttpService,
};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{json, Map, Value};
use tokio::net::TcpListener;
use tokio::sync::broadcast;
use tokio::time::sleep;

use crate::{made, offers, wire};

type Input = Map<String, Value>;

/// What all sessions share.
#[derive(Clone)]
struct Demo {
    unlocked: Arc<AtomicBool>,
    stopped: Arc<AtomicU32>, // calls of slow that were cancelled
    changes: broadcast::Sender<Change>,
    level: Arc<Mutex<LoggingLevel>>, // of sessions; it is one for all
}

#[derive(Clone, Copy)]
enum Change {
    Tools,
    Time,
}

fn tool(name: &'static str, properties: Value) -> Tool {
    let schema = json!({ "type": "object", "properties": properties });
    let schema = schema.as_object().cloned().unwrap_or_default();
    Tool::new(name, name, Arc::new(schema))
}

fn number(input: &Input, name: &str) -> f64 {
    input.get(name).and_then(Value::as_f64).unwrap_or_default()
}

fn text<'a>(input: &'a Input, name: &str) -> &'a str {
    input.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn say(text: impl Into<String>) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text.into())])
}

impl Demo {
    fn tools(&self) -> Vec<Tool> {
        let a_number = json!({ "type": "number" });
        let a_text = json!({ "type": "string" });
        let mut tools = vec![
            tool("echo", json!({ "text": a_text })),
            tool("add", json!({ "a": a_number, "b": a_number })),
            tool("slow", json!({ "steps": a_number, "delay_ms": a_number })),
            tool("fail", json!({ "message": a_text })),
            tool("large", json!({ "bytes": a_number })),
            tool("stopped", json!({})),
            tool("unlock", json!({})),
            tool("ask", json!({})),
            tool("consult", json!({ "question": a_text })),
            tool("roots", json!({})),
            tool("note", json!({ "text": a_text })),
            tool("tick", json!({})),
        ];
        if self.unlocked.load(Ordering::Relaxed) {
            tools.push(tool("vault", json!({})));
        }
        tools
    }

    async fn slow(
        &self,
        input: &Input,
        context: &RequestContext<RoleServer>,
    ) -> CallToolResult {
        let steps = number(input, "steps");
        let pause = Duration::from_millis(number(input, "delay_ms") as u64);
        let token = context.meta.get_progress_token();
        for step in 1..=steps as u32 {
            tokio::select! {
                _ = context.ct.cancelled() => {
                    self.stopped.fetch_add(1, Ordering::Relaxed);
                    return say("cancelled");
                }
                _ = sleep(pause) => {}
            }
            if let Some(token) = token.clone() {
                let told = ProgressNotificationParam::new(token, step.into())
                    .with_total(steps);
                let _ = context.peer.notify_progress(told).await;
            }
        }
        say(format!("{steps} steps"))
    }

    /// A session is told directly, who listens by way of a channel.
    async fn unlock(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> CallToolResult {
        self.unlocked.store(true, Ordering::Relaxed);
        let _ = self.changes.send(Change::Tools);
        if context.meta.protocol_version().is_none() {
            let _ = context.peer.notify_tool_list_changed().await;
        }
        say("unlocked")
    }

    async fn tick(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> CallToolResult {
        let _ = self.changes.send(Change::Time);
        if context.meta.protocol_version().is_none() {
            let told = ResourceUpdatedNotificationParam::new("demo://time");
            let _ = context.peer.notify_resource_updated(told).await;
        }
        say("tock")
    }

    /// Whoever is of today says the level in the request, or gets no log.
    async fn note(
        &self,
        said: &str,
        context: &RequestContext<RoleServer>,
    ) -> CallToolResult {
        let modern = context.meta.protocol_version().is_some();
        let of_old = self.level.lock().unwrap().clone();
        let level = context.meta.log_level().or((!modern).then_some(of_old));
        if let Some(level) = level {
            if wire!(level) == "debug" {
                self.log(context, "debug", "a note").await;
            }
            self.log(context, "warning", said).await;
        }
        say("noted")
    }

    async fn log(
        &self,
        context: &RequestContext<RoleServer>,
        level: &str,
        text: &str,
    ) {
        let line = json!({ "level": level, "logger": "demo", "data": text });
        let _ = context.peer.notify_logging_message(made!(line)).await;
    }
}

impl ServerHandler for Demo {
    fn get_info(&self) -> ServerConfig {
        let capabilities = json!({
            "tools": { "listChanged": true },
            "resources": { "subscribe": true },
            "prompts": {}, "completions": {}, "logging": {},
        });
        ServerConfig::new(made!(capabilities))
            .with_server_info(Implementation::new("rust", "1"))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let input = request.arguments.unwrap_or_default();
        let given = request.input_responses.unwrap_or_default();
        let asked = offers::ask(
            &request.name,
            text(&input, "question"),
            given.get(request.name.as_ref()),
            &context,
        );
        if let Some(response) = asked.await {
            return Ok(response);
        }
        let result = match request.name.as_ref() {
            "echo" => say(text(&input, "text")),
            "add" => {
                let sum = number(&input, "a") + number(&input, "b");
                say(sum.to_string())
            }
            "large" => say("x".repeat(number(&input, "bytes") as usize)),
            "fail" => CallToolResult::error(vec![ContentBlock::text(
                text(&input, "message").to_string(),
            )]),
            "slow" => self.slow(&input, &context).await,
            "stopped" => {
                let count = self.stopped.load(Ordering::Relaxed);
                say(format!("{count} stopped"))
            }
            "unlock" => self.unlock(&context).await,
            "tick" => self.tick(&context).await,
            "note" => self.note(text(&input, "text"), &context).await,
            name => {
                let why: Cow<'static, str> = format!("no tool {name}").into();
                return Err(ErrorData::invalid_params(why, None));
            }
        };
        Ok(result.into())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(
        &self,
        context: SubscriptionContext,
    ) -> Result<(), ErrorData> {
        let mut changes = self.changes.subscribe();
        loop {
            tokio::select! {
                _ = context.cancelled() => return Ok(()),
                change = changes.recv() => {
                    let sink = context.sink();
                    let _ = match change {
                        Ok(Change::Time) => {
                            sink.notify_resource_updated("demo://time").await
                        }
                        _ => sink.notify_tool_list_changed().await,
                    };
                }
            }
        }
    }

    async fn subscribe(
        &self,
        _: SubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(()) // whoever is connected is told of all changes
    }

    async fn unsubscribe(
        &self,
        _: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        *self.level.lock().unwrap() = request.level;
        Ok(())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(made!(offers::resources()))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(made!(offers::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let Some(found) = offers::read(&request.uri) else {
            return Err(ErrorData::resource_not_found("not found", None));
        };
        let result: ReadResourceResult = made!(found);
        Ok(result.into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(made!(offers::prompts()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let input = request.arguments.unwrap_or_default();
        let result: GetPromptResult =
            made!(offers::prompt(text(&input, "name")));
        Ok(result.into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Ok(made!(offers::complete(&request.argument.value)))
    }
}

pub async fn serve(port: &str) -> io::Result<()> {
    let demo = Demo {
        unlocked: Arc::default(),
        stopped: Arc::default(),
        changes: broadcast::channel(16).0,
        level: Arc::new(Mutex::new(LoggingLevel::Debug)),
    };
    let config =
        StreamableHttpServerConfig::default().with_legacy_session_mode(true);
    let service: StreamableHttpService<Demo, LocalSessionManager> =
        StreamableHttpService::new(
            move || Ok(demo.clone()),
            Arc::default(),
            config,
        );
    let listener = TcpListener::bind(format!("127.0.0.1:{port}")).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let service = TowerToHyperService::new(service.clone());
        tokio::spawn(
            http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service),
        );
    }
}
