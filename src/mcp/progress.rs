//! How far a call is.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::Peer;
use tokio::task::{JoinError, JoinHandle};
use tokio::time::timeout;

/// Tells a client that asked for it how far a call is.
pub struct Teller {
    /// The client.
    pub peer: Peer<RoleServer>,
    /// Its name for the call.
    pub token: ProgressToken,
    /// What is being done.
    pub title: &'static str,
}

impl Teller {
    /// Waits for the end, and tells of the beginning, of each five seconds, and of the end.
    ///
    /// # Errors
    ///
    /// It has panicked.
    pub async fn accompany<T>(&self, mut work: JoinHandle<T>) -> Result<T, JoinError> {
        const BEAT: Duration = Duration::from_secs(5);
        let mut count = 0;
        self.tell(count, "begun").await;
        loop {
            let outcome = timeout(BEAT, &mut work).await;
            count += 1;
            match outcome {
                Ok(outcome) => {
                    self.tell(count, "done").await;
                    return outcome;
                }
                Err(_) => self.tell(count, "under way").await,
            }
        }
    }

    async fn tell(&self, count: u32, how: &str) {
        // Once the input has ended nobody passes it on.
        const PATIENCE: Duration = Duration::from_secs(1);
        let told = ProgressNotificationParam::new(self.token.clone(), f64::from(count));
        let told = told.with_message(format!("{}: {how}", self.title));
        let _ = timeout(PATIENCE, self.peer.notify_progress(told)).await;
    }
}
