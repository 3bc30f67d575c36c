//! The streams of a conversation.

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::{Transport, stdio};

/// Standard input and output: a message a line.
pub fn standard() -> impl Transport<RoleServer> + 'static {
    let (input, output) = stdio();
    Patient {
        inner: AsyncRwTransport::new(input, output),
        has_begun: false,
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
