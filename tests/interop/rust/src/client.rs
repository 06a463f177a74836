//! The checks, over TCP or over HTTP.
//!
//! The SDK takes anything that reads and writes for a line transport; here it
//! is a TCP stream. MODE "legacy" opens with initialize, "auto" asks with
//! server/discover first. One line is printed for each check, "pass NAME",
//! "fail NAME why" or "skip NAME why", and run.py knows which must appear.

use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientConfig,
    ClientRequest, CreateMessageRequestParams, CreateMessageResult,
    ElicitRequestParams, ElicitResult, ErrorCode, ListRootsResult,
    LoggingMessageNotificationParam, PingRequest, ProgressNotificationParam,
    ProtocolVersion, ResourceUpdatedNotificationParam, ServerNotification,
    ServerResult, SubscriptionFilter,
};
use rmcp::service::{
    NotificationContext, PeerRequestOptions, RequestContext, RunningService,
    ServiceError,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{
    ClientHandler, ClientLifecycleMode, ClientServiceExt, ErrorData,
    RoleClient,
};
use serde_json::{json, Value};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

use crate::features::{self, Answers};
use crate::{made, wire};

pub type Outcome = Result<(), String>;
type Progress = Arc<Mutex<Vec<f64>>>;

const PATIENCE: Duration = Duration::from_secs(30);
const SHORT: Duration = Duration::from_millis(300);
const TOOLS: [&str; 5] = ["echo", "add", "slow", "fail", "large"];
const AWKWARD: &str =
    "Grüße, 你好, \u{1F600}, \"quoted\"\n\\ \u{2028} end";

#[derive(Clone, Default)]
pub struct Handler {
    progress: Progress,
    changed: Arc<Notify>,
    answers: Answers,
    tasks: bool,
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        features::config(self.tasks)
    }

    async fn create_elicitation(
        &self,
        question: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(made!(self.answers.elicit(wire!(question))))
    }

    async fn create_message(
        &self,
        question: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        Ok(made!(self.answers.sample(wire!(question))))
    }

    async fn list_roots(
        &self,
        _: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        Ok(made!(self.answers.roots()))
    }

    async fn on_logging_message(
        &self,
        line: LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.answers.lines.lock().unwrap().push(wire!(line));
    }

    async fn on_resource_updated(
        &self,
        _: ResourceUpdatedNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.answers.updated.notify_one();
    }

    async fn on_progress(
        &self,
        step: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.progress.lock().unwrap().push(step.progress);
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }
}

pub struct Peer {
    pub service: RunningService<RoleClient, Handler>,
    pub answers: Answers,
    progress: Progress,
    changed: Arc<Notify>,
}

pub fn expect(truth: bool, why: impl ToString) -> Outcome {
    if truth {
        Ok(())
    } else {
        Err(why.to_string())
    }
}

pub fn tell(error: impl ToString) -> String {
    error.to_string()
}

pub fn text_of(result: &CallToolResult) -> &str {
    let text = result.content.first().and_then(|block| block.as_text());
    text.map_or("", |text| &text.text)
}

pub fn params(tool: &'static str, input: Value) -> CallToolRequestParams {
    let input = input.as_object().cloned().unwrap_or_default();
    CallToolRequestParams::new(tool).with_arguments(input)
}

impl Peer {
    pub async fn connect(
        mode: &str,
        address: &str,
        tasks: bool,
    ) -> Result<Peer, String> {
        let lifecycle = match mode {
            "legacy" => ClientLifecycleMode::Initialize,
            _ => ClientLifecycleMode::Auto {
                preferred_versions: vec![ProtocolVersion::V_2026_07_28],
                legacy_version: Some(ProtocolVersion::V_2025_11_25),
            },
        };
        let handler = Handler { tasks, ..Handler::default() };
        let answers = handler.answers.clone();
        let progress = handler.progress.clone();
        let changed = handler.changed.clone();
        let service = if address.starts_with("http") {
            let http = StreamableHttpClientTransport::from_uri(address);
            handler.serve_with_lifecycle(http, lifecycle).await
        } else {
            let stream = TcpStream::connect(address).await.map_err(tell)?;
            handler.serve_with_lifecycle(stream, lifecycle).await
        };
        let service = service.map_err(tell)?;
        Ok(Peer { service, answers, progress, changed })
    }

    fn revision(&self) -> String {
        let info = self.service.peer_info();
        info.map_or(String::new(), |i| i.protocol_version.to_string())
    }

    pub fn is_modern(&self) -> bool {
        self.revision().as_str() >= "2026"
    }

    fn steps(&self) -> Vec<f64> {
        self.progress.lock().unwrap().clone()
    }

    async fn try_call(
        &self,
        tool: &'static str,
        input: Value,
    ) -> Result<CallToolResult, ServiceError> {
        self.service.call_tool(params(tool, input)).await
    }

    pub async fn call(
        &self,
        tool: &'static str,
        input: Value,
    ) -> Result<CallToolResult, String> {
        self.try_call(tool, input).await.map_err(tell)
    }

    /// Handlers run on their own, so a step may be told after the result.
    async fn wait_for_steps(&self, count: usize) {
        let enough = async {
            while self.progress.lock().unwrap().len() < count {
                sleep(Duration::from_millis(5)).await;
            }
        };
        let _ = timeout(Duration::from_secs(5), enough).await;
    }
}

async fn has(peer: &Peer, names: &[&str]) -> Outcome {
    let tools = peer.service.list_all_tools().await.map_err(tell)?;
    let has = |name: &&str| tools.iter().any(|tool| tool.name == **name);
    expect(names.iter().all(has), format!("{tools:?}"))
}

async fn list(peer: &Peer) -> Outcome {
    has(peer, &TOOLS).await
}

async fn echo(peer: &Peer) -> Outcome {
    let result = peer.call("echo", json!({ "text": AWKWARD })).await?;
    expect(text_of(&result) == AWKWARD, text_of(&result))
}

async fn add(peer: &Peer) -> Outcome {
    let result = peer.call("add", json!({ "a": 2, "b": 3 })).await?;
    expect(text_of(&result).parse() == Ok(5.0), text_of(&result))
}

async fn progress(peer: &Peer) -> Outcome {
    peer.progress.lock().unwrap().clear();
    peer.call("slow", json!({ "steps": 5, "delay_ms": 10 })).await?;
    peer.wait_for_steps(5).await;
    let steps = peer.steps();
    expect(steps == [1.0, 2.0, 3.0, 4.0, 5.0], format!("{steps:?}"))
}

async fn fail(peer: &Peer) -> Outcome {
    let result = peer.call("fail", json!({ "message": "boom" })).await?;
    let said = text_of(&result).contains("boom");
    expect(result.is_error == Some(true) && said, format!("{result:?}"))
}

async fn large(peer: &Peer) -> Outcome {
    let result = peer.call("large", json!({ "bytes": 1_000_000 })).await?;
    let length = text_of(&result).len();
    expect(length == 1_000_000, length)
}

async fn unknown(peer: &Peer) -> Outcome {
    match peer.try_call("no-such-tool", json!({})).await {
        Err(ServiceError::McpError(error)) => {
            expect(error.code == ErrorCode::INVALID_PARAMS, error)
        }
        other => Err(format!("{other:?}")),
    }
}

/// An echo is answered while a slow call is under way.
async fn together(peer: &Peer) -> Outcome {
    let slow = peer.call("slow", json!({ "steps": 10, "delay_ms": 20 }));
    let quick = async {
        for n in 0..50 {
            let text = format!("number {n}");
            let answer = peer.call("echo", json!({ "text": text })).await?;
            expect(text_of(&answer) == text, text_of(&answer))?;
        }
        Ok::<(), String>(())
    };
    let (slow, quick) = tokio::join!(slow, quick);
    slow.map(|_| ()).and(quick)
}

/// No progress once a request sent after the cancellation is answered.
async fn cancel(peer: &Peer) -> Outcome {
    peer.progress.lock().unwrap().clear();
    let input = json!({ "steps": 1000, "delay_ms": 20 });
    let request = CallToolRequest::new(params("slow", input));
    let handle = peer
        .service
        .send_cancellable_request(
            ClientRequest::CallToolRequest(request),
            PeerRequestOptions::no_options(),
        )
        .await
        .map_err(tell)?;
    peer.wait_for_steps(1).await;
    expect(!peer.steps().is_empty(), "it never began")?;
    handle.cancel(Some("enough".into())).await.map_err(tell)?;
    peer.call("echo", json!({ "text": "still there" })).await?;
    sleep(SHORT).await;
    let before = peer.steps().len();
    sleep(SHORT).await;
    let late = peer.steps().len() - before;
    expect(late == 0, format!("{late} notifications late"))
}

async fn changed(peer: &Peer) -> Outcome {
    if peer.revision().as_str() < "2026" {
        peer.call("unlock", json!({})).await?;
        peer.changed.notified().await;
    } else {
        let tools = SubscriptionFilter::builder().tools_list_changed().build();
        let mut events = peer.service.listen(tools).await.map_err(tell)?;
        peer.call("unlock", json!({})).await?;
        match events.next().await.map_err(tell)? {
            Some(ServerNotification::ToolListChangedNotification(_)) => {}
            other => return Err(format!("{other:?}")),
        }
        events.cancel().await.map_err(tell)?;
    }
    has(peer, &["vault"]).await
}

async fn ping(peer: &Peer) -> Outcome {
    let request = ClientRequest::PingRequest(PingRequest::default());
    match peer.service.send_request(request).await {
        Ok(ServerResult::EmptyResult(_)) => Ok(()),
        other => Err(format!("{other:?}")),
    }
}

async fn report(name: &str, check: impl Future<Output = Outcome>) {
    let outcome = match timeout(PATIENCE, check).await {
        Ok(outcome) => outcome,
        Err(_) => Err("no answer".into()),
    };
    match outcome {
        Ok(()) => println!("pass {name}"),
        Err(why) => {
            let line = why.split_whitespace().collect::<Vec<_>>().join(" ");
            println!("fail {name} {line}");
        }
    }
}

pub async fn prove(mode: &str, revision: &str, address: &str) {
    let connected = timeout(PATIENCE, Peer::connect(mode, address, false)).await;
    let peer = match connected {
        Ok(Ok(peer)) => peer,
        Ok(Err(why)) => return println!("fail revision {why}"),
        Err(_) => return println!("fail revision no answer"),
    };
    let agreed = peer.revision();
    report("revision", async { expect(agreed == revision, &agreed) }).await;
    report("list", list(&peer)).await;
    report("echo", echo(&peer)).await;
    report("add", add(&peer)).await;
    report("progress", progress(&peer)).await;
    report("fail", fail(&peer)).await;
    report("large", large(&peer)).await;
    report("unknown", unknown(&peer)).await;
    report("together", together(&peer)).await;
    report("cancel", cancel(&peer)).await;
    report("changed", changed(&peer)).await;
    report("invalid", features::invalid(&peer)).await;
    report("resources", features::resources(&peer)).await;
    report("read-text", features::read_text(&peer)).await;
    report("read-bytes", features::read_bytes(&peer)).await;
    report("read-template", features::read_template(&peer)).await;
    report("read-missing", features::read_missing(&peer)).await;
    report("subscribe", features::subscribe(&peer)).await;
    report("prompts", features::prompts(&peer)).await;
    report("prompt", features::prompt(&peer)).await;
    report("complete", features::complete(&peer)).await;
    report("log", features::log(&peer)).await;
    report("accept", features::accept(&peer)).await;
    report("decline", features::decline(&peer)).await;
    report("sample", features::sample(&peer)).await;
    report("roots", features::roots(&peer)).await;
    if revision < "2026" {
        println!("skip task this SDK has those of 2026-07-28 only");
        report("ping", ping(&peer)).await;
    } else {
        report("task", features::task(mode, address)).await;
    }
}
