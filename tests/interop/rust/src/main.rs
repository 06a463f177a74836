//! interop client MODE REVISION ADDRESS - the checks, with the Rust SDK.
//! interop server PORT                  - the demo's tools, over HTTP.

#![allow(deprecated)] // what is deprecated is checked all the same

use std::env;

mod client;
mod features;
mod offers;
mod server;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["client", mode, revision, address] => {
            client::prove(mode, revision, address).await
        }
        ["server", port] => server::serve(port).await.expect("a free port"),
        _ => panic!("interop client MODE REVISION ADDRESS, or server PORT"),
    }
}
