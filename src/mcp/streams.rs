//! The streams of a conversation.

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::{Transport, stdio};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWriteExt, BufReader, DuplexStream, duplex};

use crate::json;

/// Standard input and output: a message a line.
pub fn standard() -> impl Transport<RoleServer> + 'static {
    let (input, output) = stdio();
    let (mending, mended) = duplex(64 << 10);
    tokio::spawn(mend(input, mending));
    Patient {
        inner: AsyncRwTransport::new(mended, output),
        has_begun: false,
    }
}

/// Hands on each message as one that can be read: the SDK passes over any other, and the agent waits for its answer.
async fn mend(input: impl AsyncRead + Unpin, mut to: DuplexStream) {
    let mut input = BufReader::new(input);
    let mut line = Vec::new();
    while let Ok(1..) = input.read_until(b'\n', &mut line).await {
        if to.write_all(&json::mended(&line)).await.is_err() {
            return;
        }
        line.clear();
    }
}

/// Streams without what comes before the first request: the SDK would take that for the end.
struct Patient<T> {
    inner: T,
    has_begun: bool,
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Patient<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = std::result::Result<(), T::Error>> + Send + 'static {
        self.inner.send(message)
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            let message = self.inner.receive().await?;
            self.has_begun |= matches!(message, ClientJsonRpcMessage::Request(_));
            if self.has_begun {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> std::result::Result<(), T::Error> {
        self.inner.close().await
    }
}
