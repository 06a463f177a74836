//! What the demo server offers besides tools, and what it asks.
//!
//! More checks for client.rs. What the SDK has types for is looked at, and
//! made, as it is on the wire.

use std::sync::{Arc, Mutex};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientConfig, ErrorCode,
    Implementation, ServerNotification, SubscriptionFilter,
};
use rmcp::service::ServiceError;
use serde_json::{json, Value};
use tokio::sync::Notify;
use tokio::time::{sleep, Duration};

use crate::client::{expect, params, tell, text_of, Outcome, Peer};

/// Our own words for something the SDK has a type for, and the other way.
#[macro_export]
macro_rules! made {
    ($value:expr) => {
        serde_json::from_value($value).expect("what the type wants")
    };
}
#[macro_export]
macro_rules! wire {
    ($value:expr) => {
        serde_json::to_value($value).unwrap_or_default()
    };
}

const ROOT: &str = "file:///srv/interop";

/// What the server is told when it asks, and what it told.
#[derive(Clone, Default)]
pub struct Answers {
    pub form: Arc<Mutex<Option<Value>>>, // none: decline
    pub asked: Arc<Mutex<Value>>,
    pub lines: Arc<Mutex<Vec<Value>>>,
    pub updated: Arc<Notify>,
}

impl Answers {
    pub fn elicit(&self, question: Value) -> Value {
        *self.asked.lock().unwrap() = question;
        match self.form.lock().unwrap().clone() {
            Some(form) => json!({ "action": "accept", "content": form }),
            None => json!({ "action": "decline" }),
        }
    }

    pub fn sample(&self, question: Value) -> Value {
        let said = &question["messages"][0]["content"]["text"];
        let text = format!("{}!", said.as_str().unwrap_or_default());
        json!({ "role": "assistant", "model": "parrot",
                "content": { "type": "text", "text": text } })
    }

    pub fn roots(&self) -> Value {
        json!({ "roots": [{ "uri": ROOT, "name": "interop" }] })
    }
}

/// With tasks, a server may make one of any call.
pub fn config(tasks: bool) -> ClientConfig {
    let mut can = json!({ "elicitation": { "form": {} }, "sampling": {},
                          "roots": {} });
    if tasks {
        can["extensions"] = json!({ "io.modelcontextprotocol/tasks": {} });
    }
    ClientConfig::new(made!(can), Implementation::new("rust", "1"))
}

pub async fn invalid(peer: &Peer) -> Outcome {
    let result = peer.call("add", json!({ "a": "two", "b": 3 })).await?;
    expect(result.is_error == Some(true), format!("{result:?}"))
}

pub async fn resources(peer: &Peer) -> Outcome {
    let listed = peer.service.list_all_resources().await.map_err(tell)?;
    let mut uris: Vec<_> =
        listed.iter().map(|one| one.uri.to_string()).collect();
    uris.sort();
    let templates =
        peer.service.list_all_resource_templates().await.map_err(tell)?;
    uris.extend(templates.iter().map(|one| one.uri_template.to_string()));
    expect(
        uris == ["demo://hello", "demo://pixel", "demo://time",
                 "demo://greeting/{name}"],
        format!("{uris:?}"),
    )
}

async fn read(peer: &Peer, uri: &str) -> Result<Value, ServiceError> {
    let wanted = made!(json!({ "uri": uri }));
    let result = peer.service.read_resource(wanted).await?;
    Ok(wire!(result)["contents"][0].take())
}

async fn reads(peer: &Peer, uri: &str, part: &str, wanted: &str) -> Outcome {
    let found = read(peer, uri).await.map_err(tell)?;
    let text = found[part].as_str().unwrap_or_default();
    expect(text.starts_with(wanted), &found)
}

pub async fn read_text(peer: &Peer) -> Outcome {
    reads(peer, "demo://hello", "mimeType", "text/plain").await?;
    reads(peer, "demo://hello", "text", "Hello from fairlead.\n").await
}

pub async fn read_bytes(peer: &Peer) -> Outcome {
    reads(peer, "demo://pixel", "blob", "iVBORw0KGgo").await
}

pub async fn read_template(peer: &Peer) -> Outcome {
    reads(peer, "demo://greeting/Ada%20L", "text", "Hello, Ada L!").await
}

/// Of old this had a code of its own.
pub async fn read_missing(peer: &Peer) -> Outcome {
    let wanted = if peer.is_modern() {
        ErrorCode::INVALID_PARAMS
    } else {
        ErrorCode::RESOURCE_NOT_FOUND
    };
    match read(peer, "demo://nothing").await {
        Err(ServiceError::McpError(error)) => {
            expect(error.code == wanted, error)
        }
        other => Err(format!("{other:?}")),
    }
}

pub async fn subscribe(peer: &Peer) -> Outcome {
    let uri = "demo://time";
    if !peer.is_modern() {
        let wanted = made!(json!({ "uri": uri }));
        peer.service.subscribe(wanted).await.map_err(tell)?;
        peer.call("tick", json!({})).await?;
        peer.answers.updated.notified().await;
        let done = made!(json!({ "uri": uri }));
        return peer.service.unsubscribe(done).await.map_err(tell);
    }
    let wish = SubscriptionFilter::builder().resource_subscription(uri).build();
    let mut events = peer.service.listen(wish).await.map_err(tell)?;
    peer.call("tick", json!({})).await?;
    match events.next().await.map_err(tell)? {
        Some(ServerNotification::ResourceUpdatedNotification(told)) => {
            expect(told.params.uri == uri, told.params.uri)?;
        }
        other => return Err(format!("{other:?}")),
    }
    events.cancel().await.map_err(tell)
}

pub async fn prompts(peer: &Peer) -> Outcome {
    let listed = peer.service.list_all_prompts().await.map_err(tell)?;
    let listed = wire!(listed);
    let argument = |n: usize| &listed[0]["arguments"][n];
    expect(
        listed[0]["name"] == "greeting"
            && argument(0)["name"] == "name"
            && argument(0)["required"] == true
            && argument(1)["name"] == "style"
            && argument(1)["required"] != true,
        &listed,
    )
}

pub async fn prompt(peer: &Peer) -> Outcome {
    let wanted = made!(json!({ "name": "greeting",
        "arguments": { "name": "Ada", "style": "formal" } }));
    let got = wire!(peer.service.get_prompt(wanted).await.map_err(tell)?);
    let message = |n: usize| &got["messages"][n];
    expect(
        message(0)["content"]["text"] == "Greet Ada, and mind your manners."
            && message(1)["content"]["type"] == "resource"
            && message(2)["role"] == "assistant",
        &got,
    )
}

pub async fn complete(peer: &Peer) -> Outcome {
    for of in [
        json!({ "type": "ref/prompt", "name": "greeting" }),
        json!({ "type": "ref/resource", "uri": "demo://greeting/{name}" }),
    ] {
        let wanted = made!(json!({ "ref": of,
            "argument": { "name": "name", "value": "A" } }));
        let result = peer.service.complete(wanted).await.map_err(tell)?;
        let values = result.completion.values;
        expect(values == ["Ada", "Alan"], format!("{values:?}"))?;
    }
    Ok(())
}

/// The tool says something at "debug", too, which must not come.
pub async fn log(peer: &Peer) -> Outcome {
    let mut note = json!({ "name": "note", "arguments": { "text": "hush" } });
    if peer.is_modern() {
        note["_meta"] =
            json!({ "io.modelcontextprotocol/logLevel": "warning" });
    } else {
        let level = made!(json!({ "level": "warning" }));
        peer.service.set_level(level).await.map_err(tell)?;
    }
    let note: CallToolRequestParams = made!(note);
    peer.service.call_tool(note).await.map_err(tell)?;
    let lines = &peer.answers.lines;
    while lines.lock().unwrap().is_empty() {
        sleep(Duration::from_millis(5)).await;
    }
    let lines = Value::from(lines.lock().unwrap().clone());
    expect(
        lines[0]["level"] == "warning"
            && lines[0]["logger"] == "demo"
            && lines[0]["data"] == "hush"
            && lines[1].is_null(),
        &lines,
    )
}

async fn says(peer: &Peer, tool: &'static str, input: Value, wanted: &str)
    -> Outcome {
    let result = peer.call(tool, input).await?;
    expect(text_of(&result) == wanted, format!("{result:?}"))
}

pub async fn accept(peer: &Peer) -> Outcome {
    let form = json!({ "name": "Ada", "age": 36 });
    *peer.answers.form.lock().unwrap() = Some(form);
    says(peer, "ask", json!({}), "Hello, Ada!").await?;
    let asked = peer.answers.asked.lock().unwrap().clone();
    expect(asked["message"] == "Who are you?", &asked)
}

pub async fn decline(peer: &Peer) -> Outcome {
    *peer.answers.form.lock().unwrap() = None;
    says(peer, "ask", json!({}), "As you like.").await
}

pub async fn sample(peer: &Peer) -> Outcome {
    let input = json!({ "question": "Who is there" });
    says(peer, "consult", input, "Who is there!").await
}

pub async fn roots(peer: &Peer) -> Outcome {
    let result = peer.call("roots", json!({})).await?;
    let told = result.structured_content.clone().unwrap_or_default();
    expect(
        text_of(&result) == "1 roots" && told["roots"][0]["uri"] == ROOT,
        &told,
    )
}

/// Only with a client that said so may the server make a task of a call.
pub async fn task(mode: &str, address: &str) -> Outcome {
    let peer = Peer::connect(mode, address, true).await?;
    let slow = params("slow", json!({ "steps": 2, "delay_ms": 10 }));
    let answer = peer.service.call_tool_once(slow).await.map_err(tell)?;
    let CallToolResponse::Task(created) = answer else {
        return Err(format!("it was no task: {answer:?}"));
    };
    loop {
        let id = json!({ "taskId": created.task.task_id });
        let now = peer.service.get_task(made!(id)).await.map_err(tell)?;
        let now = wire!(now);
        if now["status"] != "working" {
            let text = &now["result"]["content"][0]["text"];
            return expect(text == "done, in 2 steps", &now);
        }
        sleep(Duration::from_millis(20)).await;
    }
}
