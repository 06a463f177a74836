//! The demo's tools, over Streamable HTTP of all revisions.

use std::borrow::Cow;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock,
    Implementation, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, ServerCapabilities, ServerConfig,
    SubscriptionFilter, Tool,
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

type Input = Map<String, Value>;

/// What all sessions share.
#[derive(Clone)]
struct Demo {
    unlocked: Arc<AtomicBool>,
    stopped: Arc<AtomicU32>, // calls of slow that were cancelled
    changes: broadcast::Sender<()>,
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
        let _ = self.changes.send(());
        if context.meta.protocol_version().is_none() {
            let _ = context.peer.notify_tool_list_changed().await;
        }
        say("unlocked")
    }
}

impl ServerHandler for Demo {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .build();
        ServerConfig::new(capabilities)
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
                _ = changes.recv() => {
                    let _ = context.sink().notify_tool_list_changed().await;
                }
            }
        }
    }
}

pub async fn serve(port: &str) -> io::Result<()> {
    let demo = Demo {
        unlocked: Arc::default(),
        stopped: Arc::default(),
        changes: broadcast::channel(16).0,
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
        let service = TowerToHyperService::new(service.clone());
        tokio::spawn(
            http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service),
        );
    }
}
