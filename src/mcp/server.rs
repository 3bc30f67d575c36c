//! Between the protocol and the tools.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest,
    CustomResult, ErrorCode, ErrorData, Implementation, JsonObject, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, ServerInitializeError};
use rmcp::{RoleServer, ServerHandler, ServiceExt};
use tokio::sync::RwLock;
use tokio::task::{JoinError, spawn_blocking};

use super::call::{Call, Host, Leave, in_words};
use super::progress::Teller;
use super::tools::{self, Effect, Listed};
use super::{client, streams};
use crate::error::{Error, Result, While};

/// What a model is told before it has seen a tool. Clients cut it at 500 characters or so.
const INSTRUCTIONS: &str = "\
edio is an undo for this work tree. After each finished piece of work call snapshot; make no commit for that. To look \
back: log, show, diff, status. To go back: restore (a turn, or only some files) or undo; never git checkout, stash, \
reset or clean. Nothing is lost: what is unsaved is saved first. After restore or undo read the named files again before \
you edit them. A turn is written 7, @ (current), @-1, last, or 0 (the start).";

/// Serves the tools on standard input and output, until the input ends. What is under way then is done first.
///
/// # Errors
///
/// The streams broke before a conversation had begun.
pub fn serve(host: Host) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .or_cannot(|| "the server could not be started".to_owned())?;
    let server = Server {
        host: Arc::new(host),
        order: RwLock::default(),
    };
    runtime.block_on(async {
        match server.serve(streams::standard()).await {
            Ok(running) => running.waiting().await.map(drop).map_err(fault),
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(Error::cannot("the conversation was broken off").because(error)),
        }
    })
}

struct Server {
    host: Arc<Host>,
    /// Calls are begun in the order in which they come. What changes something waits for all before it, and is waited for
    /// by all after it.
    order: RwLock<()>,
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let edio = Implementation::new("edio", env!("CARGO_PKG_VERSION")).with_title("edio");
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(edio)
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> std::result::Result<ListToolsResult, ErrorData> {
        let call = self.call(&context, Leave::Given);
        // Where there is no repository yet, the tools say so when they are called.
        let listed = spawn_blocking(move || {
            let workspace = call.look().ok();
            let allowed = |tool: &&Listed| tool.leave.is_given(workspace.as_ref());
            tools::all()
                .iter()
                .filter(allowed)
                .map(Listed::told)
                .collect()
        });
        let listed = listed
            .await
            .map_err(|error| ErrorData::internal_error(in_words(&fault(error)), None))?;
        Ok(ListToolsResult::with_all_items(listed))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> std::result::Result<CallToolResponse, ErrorData> {
        let Some(tool) = tools::named(&request.name) else {
            let what = format!("there is no tool {}", request.name);
            return Err(ErrorData::invalid_params(what, None));
        };
        let (_looks, _changes) = match tool.effect {
            Effect::Looks => (Some(self.order.read().await), None),
            _ => (None, Some(self.order.write().await)),
        };
        let call = self.call(&context, tool.leave);
        let arguments = request.arguments.unwrap_or_default();
        let token = context.meta.get_progress_token();
        let teller = token.filter(|_| tool.effect != Effect::Looks);
        let teller = teller.map(|token| Teller {
            peer: context.peer,
            token,
            title: tool.title,
        });
        Ok(answer(tool, call, arguments, teller).await.into())
    }

    /// What the SDK could not read as a method of the protocol.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> std::result::Result<CustomResult, ErrorData> {
        match request.method.as_str() {
            "tools/call" => Err(ErrorData::invalid_params(
                "a call has a name, and an object of arguments",
                None,
            )),
            _ => Err(ErrorData::new(
                ErrorCode::METHOD_NOT_FOUND,
                request.method,
                None,
            )),
        }
    }
}

impl Server {
    fn call(&self, context: &RequestContext<RoleServer>, leave: Leave) -> Call {
        let client = context.client_info();
        Call {
            host: Arc::clone(&self.host),
            agent: client.and_then(|client| client::agent(&client.name)),
            leave,
        }
    }
}

/// Runs a tool. Whatever goes wrong in it is told to the model, and the server goes on.
async fn answer(
    tool: &'static Listed,
    call: Call,
    arguments: JsonObject,
    teller: Option<Teller>,
) -> CallToolResult {
    let work = spawn_blocking(move || (tool.run)(&call, arguments));
    let outcome = match teller {
        Some(teller) => teller.accompany(work).await,
        None => work.await,
    };
    match outcome.unwrap_or_else(|error| Err(fault(error))) {
        Ok(answer) => CallToolResult::structured(answer),
        Err(error) => CallToolResult::error(vec![ContentBlock::text(in_words(&error))]),
    }
}

/// A thread that did not come to its end.
fn fault(error: JoinError) -> Error {
    match error.try_into_panic() {
        Ok(panic) => Error::of_panic(panic.as_ref()),
        Err(error) => Error::bug("a fault in edio itself").because(error),
    }
}

#[cfg(test)]
mod tests {
    use crate::history::git::Group;
    use crate::history::lock::Patience;
    use crate::history::store::Stores;
    use crate::history::workspace::Place;

    use super::*;

    fn call() -> Call {
        let place = Place {
            folder: "/".into(),
            told_elsewhere: false,
            stores: Stores::None,
            attributes_elsewhere: false,
            home: None,
            git: None,
            waiting: None,
            patience: Patience::default(),
            trace: None,
            group: Group::Shared,
        };
        Call {
            host: Arc::new(Host {
                place,
                after_accept: |_, _| {},
            }),
            agent: None,
            leave: Leave::Given,
        }
    }

    #[test]
    fn a_tool_that_panics_is_an_error_that_the_model_sees() {
        let log = tools::named("log").unwrap();
        let tool = Box::leak(Box::new(log.that_runs(|_, _| panic!("at the worst time"))));
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.enable_all().build().unwrap();
        let result = runtime.block_on(answer(tool, call(), JsonObject::new(), None));
        assert_eq!(result.is_error, Some(true));
        let text = &result.content[0].as_text().unwrap().text;
        assert!(
            text.contains("caused by: at the worst time\nhint: "),
            "{text}"
        );
    }

    #[test]
    fn the_instructions_fit_where_clients_cut_them() {
        assert!(INSTRUCTIONS.chars().count() < 500);
    }
}
