//! The streams of a conversation.

use std::io;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ErrorCode, ServerJsonRpcMessage};
use rmcp::transport::{Transport, stdio};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader, Stdout,
};
use tokio::sync::RwLock;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::surface::Surface;
use crate::json;

/// How long a line may be, in bytes.
const LONGEST: u64 = 64 << 20;

/// Standard input and output: a message a line.
pub fn standard() -> impl Transport<RoleServer> + 'static {
    let (input, output) = stdio();
    let voice = Voice(Arc::new(RwLock::new(output)));
    let (to, heard) = channel(1);
    tokio::spawn(listen(input, to, voice.clone()));
    Lines {
        heard,
        voice,
        has_begun: false,
    }
}

/// Hands on each message that can be read, and answers a request that can't: the agent waits for its answer, and finds it by
/// its id.
async fn listen(input: impl AsyncRead + Unpin, to: Sender<ClientJsonRpcMessage>, voice: Voice) {
    let mut input = BufReader::new(input);
    while let Ok(Some(line)) = next_line(&mut input).await {
        for message in messages(&line) {
            let goes_on = match message {
                Ok(message) => to.send(message).await.is_ok(),
                Err(fault) => voice.says(&fault).await.is_ok(),
            };
            if !goes_on {
                return;
            }
        }
    }
}

/// A line.
enum Line {
    Whole(Vec<u8>),
    TooLong(Surface),
}

/// Reads a line. `None` at the end.
async fn next_line(input: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<Line>> {
    const PIECE: u64 = 64 << 10;
    let mut line = Vec::new();
    let length = input.take(LONGEST + 1).read_until(b'\n', &mut line).await?;
    if length as u64 <= LONGEST {
        return Ok((length > 0).then_some(Line::Whole(line)));
    }
    let mut surface = Surface::default();
    loop {
        surface.see(&line);
        if line.is_empty() || line.ends_with(b"\n") {
            return Ok(Some(Line::TooLong(surface)));
        }
        line.clear();
        input.take(PIECE).read_until(b'\n', &mut line).await?;
    }
}

/// The messages in a line, each as it is or as the answer to what can't be read. What does not look like a message is
/// passed over: an answer to it might be answered.
///
/// A batch is taken apart, and each request in it is answered by itself. Only 2025-03-26 has batches; it makes a server hear
/// them, and lets it answer them one by one.
fn messages(line: &Line) -> Vec<Result<ClientJsonRpcMessage, Value>> {
    let line = match line {
        Line::Whole(line) => line,
        Line::TooLong(surface) => {
            let why = "the message is longer than 64 MiB";
            return vec![Err(fault(&surface.id(), ErrorCode::INVALID_REQUEST, why))];
        }
    };
    match json::read(line) {
        Ok(Value::Array(batch)) if !batch.is_empty() => batch.iter().filter_map(message).collect(),
        Ok(value) => message(&value).into_iter().collect(),
        Err(_) if matches!(line.trim_ascii_start(), [b'{' | b'[', ..]) => {
            let mut surface = Surface::default();
            surface.see(line);
            let why = "the message is no JSON, or goes too deep";
            vec![Err(fault(&surface.id(), ErrorCode::PARSE_ERROR, why))]
        }
        Err(_) => Vec::new(),
    }
}

/// `None` where nobody waits for an answer, and nobody knows what it says.
fn message(value: &Value) -> Option<Result<ClientJsonRpcMessage, Value>> {
    let id = value.get("id");
    match ClientJsonRpcMessage::deserialize(value) {
        // An id that can't be read is taken for none.
        Ok(ClientJsonRpcMessage::Notification(_)) if id.is_some() => {}
        Ok(message) => return Some(Ok(message)),
        Err(_) => {}
    }
    let is_answer = value.get("result").is_some() || value.get("error").is_some();
    let is_notice = id.is_none() && value.get("method").is_some_and(Value::is_string);
    let (code, why) = what_is_wrong(value);
    (!is_answer && !is_notice).then(|| Err(fault(id.unwrap_or(&Value::Null), code, why)))
}

fn what_is_wrong(value: &Value) -> (ErrorCode, &'static str) {
    let is_id = |id: &Value| id.is_string() || id.is_i64();
    let invalid = ErrorCode::INVALID_REQUEST;
    match value {
        value if value["jsonrpc"] != "2.0" => (invalid, "a message has \"jsonrpc\": \"2.0\""),
        value if !value["method"].is_string() => (invalid, "a request has a method"),
        value if !is_id(&value["id"]) => (invalid, "an id is a text or a whole number"),
        _ => (
            ErrorCode::INVALID_PARAMS,
            "the parameters are not those of the method",
        ),
    }
}

/// An error that answers the request with this id, or with null, as JSON-RPC has it: a fraction may be read as another.
fn fault(id: &Value, code: ErrorCode, why: &str) -> Value {
    let is_sure = id.is_string() || id.is_i64() || id.is_u64();
    let id = if is_sure { id } else { &Value::Null };
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": why } })
}

/// Where all answers go, one after the other.
#[derive(Clone)]
struct Voice(Arc<RwLock<Stdout>>);

impl Voice {
    async fn says(&self, message: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        let mut output = self.0.write().await;
        output.write_all(&line).await?;
        output.flush().await
    }
}

/// Streams without what comes before the first request: the SDK would take that for the end.
struct Lines {
    heard: Receiver<ClientJsonRpcMessage>,
    voice: Voice,
    has_begun: bool,
}

impl Transport<RoleServer> for Lines {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let voice = self.voice.clone();
        async move { voice.says(&message).await }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            let message = self.heard.recv().await?;
            self.has_begun |= matches!(message, ClientJsonRpcMessage::Request(_));
            if self.has_begun {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}
