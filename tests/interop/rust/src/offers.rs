//! What the demo server has besides tools that compute: what there is to read,
//! a prompt, and the questions its tools ask.

use rmcp::model::{
    CallToolResponse, CallToolResult, InputRequiredResult, ServerRequest,
};
use rmcp::service::{RequestContext, ServiceError};
use rmcp::RoleServer;
use serde_json::{json, Value};

use crate::{made, wire};

const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAAC0lEQVR4\
                     2mNgAAIAAAUAAen63NgAAAAASUVORK5CYII=";
const NAMES: [&str; 4] = ["Ada", "Alan", "Barbara", "Grace"];

pub fn resources() -> Value {
    let one = |name| json!({ "uri": format!("demo://{name}"), "name": name });
    json!({ "resources": [one("hello"), one("pixel"), one("time")] })
}

pub fn templates() -> Value {
    json!({ "resourceTemplates": [
        { "uriTemplate": "demo://greeting/{name}", "name": "greeting" },
    ] })
}

/// None: there is no such resource.
pub fn read(uri: &str) -> Option<Value> {
    let contents = match uri {
        "demo://hello" => json!({ "uri": uri, "text": "Hello there.\n" }),
        "demo://pixel" => json!({ "uri": uri, "blob": PIXEL }),
        "demo://time" => json!({ "uri": uri, "text": "now" }),
        _ => {
            let name = uri.strip_prefix("demo://greeting/")?;
            json!({ "uri": uri, "text": format!("Hello, {name}!") })
        }
    };
    Some(json!({ "contents": [contents] }))
}

pub fn prompts() -> Value {
    json!({ "prompts": [{ "name": "greeting",
        "arguments": [{ "name": "name", "required": true }] }] })
}

pub fn prompt(name: &str) -> Value {
    let text = format!("Greet {name}.");
    json!({ "messages": [
        { "role": "user", "content": { "type": "text", "text": text } },
    ] })
}

pub fn complete(begin: &str) -> Value {
    let values: Vec<_> =
        NAMES.iter().filter(|name| name.starts_with(begin)).collect();
    json!({ "completion": { "values": values } })
}

/// The method and params of what a tool asks; None: it asks nothing.
fn question(tool: &str, said: &str) -> Option<(&'static str, Value)> {
    Some(match tool {
        "ask" => ("elicitation/create", json!({ "mode": "form",
            "message": "Who are you?",
            "requestedSchema": { "type": "object", "properties": {
                "name": { "type": "string", "default": "nobody" },
                "age": { "type": "integer", "default": 36 },
            }, "required": ["name"] } })),
        "consult" => ("sampling/createMessage", json!({ "maxTokens": 100,
            "messages": [{ "role": "user",
                "content": { "type": "text", "text": said } }] })),
        "roots" => ("roots/list", json!({})),
        _ => return None,
    })
}

fn answer(tool: &str, answer: &Value) -> String {
    let part = |value: &Value| value.as_str().unwrap_or_default().to_string();
    let content = &answer["content"];
    match tool {
        "ask" if answer["action"] == "accept" => {
            format!("Hello, {}, {}!", part(&content["name"]), content["age"])
        }
        "ask" => part(&answer["action"]),
        "consult" => part(&content["text"]),
        _ => {
            let roots = answer["roots"].as_array().cloned();
            let roots = roots.unwrap_or_default();
            let uris: Vec<_> =
                roots.iter().map(|root| part(&root["uri"])).collect();
            uris.join(" ")
        }
    }
}

/// A client of old is asked on the spot.
async fn put(
    method: &str,
    params: Value,
    context: &RequestContext<RoleServer>,
) -> Result<Value, ServiceError> {
    let request: ServerRequest =
        made!(json!({ "method": method, "params": params }));
    let answer = context.peer.send_request(request).await?;
    Ok(wire!(answer))
}

/// A tool that asks; None: it does not.
pub async fn ask(
    tool: &str,
    said: &str,
    given: Option<&Value>,
    context: &RequestContext<RoleServer>,
) -> Option<CallToolResponse> {
    let (method, params) = question(tool, said)?;
    let found = match given {
        Some(found) => found.clone(),
        None if context.meta.protocol_version().is_some() => {
            let more: InputRequiredResult = made!(json!({
                "resultType": "input_required",
                "inputRequests": { tool: { "method": method,
                                           "params": params } },
            }));
            return Some(more.into());
        }
        None => match put(method, params, context).await {
            Ok(found) => found,
            Err(error) => return Some(result(error.to_string(), true).into()),
        },
    };
    Some(result(answer(tool, &found), false).into())
}

fn result(text: String, is_error: bool) -> CallToolResult {
    made!(json!({ "content": [{ "type": "text", "text": text }],
                  "isError": is_error }))
}
