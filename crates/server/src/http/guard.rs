//! What every HTTP request has to pass, and what is known when its client goes away.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, Method, StatusCode, request};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use bashtion::CancellationToken;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::DropGuard;

use super::Token;
use super::form::with_whole_body;

/// What the requests of a server have in common.
#[derive(Debug)]
pub(super) struct Gate {
    pub(super) token: Option<Token>,
    pub(super) sessions: Arc<LocalSessionManager>,
    places: Arc<Semaphore>,
}

/// More than any client needs, fewer than would harm.
const MOST_REQUESTS: usize = 512;
const MOST_SESSIONS: usize = 1000;

/// The client of one request. Cancelled when it is gone, or has its answer.
#[derive(Debug, Clone)]
pub(crate) struct Connection(CancellationToken);

impl Connection {
    /// The one that a call came with.
    pub(crate) fn of(extensions: &rmcp::model::Extensions) -> Option<CancellationToken> {
        let parts = extensions.get::<request::Parts>()?;
        parts.extensions.get::<Self>().map(|connection| connection.0.clone())
    }
}

impl Gate {
    pub(super) fn new(token: Option<Token>, sessions: Arc<LocalSessionManager>) -> Self {
        Self { token, sessions, places: Arc::new(Semaphore::new(MOST_REQUESTS)) }
    }

    fn lets_in(&self, headers: &HeaderMap) -> bool {
        let Some(token) = &self.token else { return true };
        let brought = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let Some((scheme, rest)) = brought.and_then(|text| text.split_once(' ')) else { return false };
        scheme.eq_ignore_ascii_case("bearer") && token.is(rest.trim())
    }
}

/// Nobody without the token gets further, nor do more at once than there is room for.
pub(super) async fn pass(State(gate): State<Arc<Gate>>, request: Request, next: Next) -> Response {
    if !gate.lets_in(request.headers()) {
        take_in(request).await;
        let told = told(
            StatusCode::UNAUTHORIZED,
            "send the server's token in the header `Authorization: Bearer TOKEN`; bashtion serve has said where it is",
        );
        return ([(WWW_AUTHENTICATE, "Bearer realm=\"bashtion\"")], told).into_response();
    }
    let Ok(permit) = Arc::clone(&gate.places).try_acquire_owned() else {
        take_in(request).await;
        return busy("too many requests at once; try again in a second");
    };
    let begins = request.method() == Method::POST && may_begin_a_session(request.headers());
    let ends = request.method() == Method::DELETE;
    if begins && gate.sessions.sessions.read().await.len() >= MOST_SESSIONS {
        take_in(request).await;
        return busy("too many sessions; end one, or use protocol 2026-07-28, which has none");
    }
    let mut request = match with_whole_body(request).await {
        Ok(request) => request,
        Err(refused) => return refused,
    };
    let gone = CancellationToken::new();
    request.extensions_mut().insert(Connection(gone.clone()));
    let gone = gone.drop_guard();
    let mut response = next.run(request).await;
    if ends && response.status() == StatusCode::ACCEPTED {
        // The session is over by now. Clients in Python complain about any other success.
        *response.status_mut() = StatusCode::NO_CONTENT;
    }
    response.map(|body| Body::new(Held { body, _permit: permit, _gone: gone }))
}

/// Whatever comes with a request that is refused. Without it the connection would be closed, and a client that does not expect that
/// would lose its next request.
async fn take_in(refused: Request) {
    const MOST: usize = 64 << 10;
    const PATIENCE: Duration = Duration::from_secs(1);
    let _ = tokio::time::timeout(PATIENCE, to_bytes(refused.into_body(), MOST)).await;
}

/// Protocol 2026-07-28 and later have none; dates compare as text.
fn may_begin_a_session(headers: &HeaderMap) -> bool {
    let version = headers.get("mcp-protocol-version").and_then(|version| version.to_str().ok());
    !headers.contains_key("mcp-session-id") && version.is_none_or(|version| version < "2026-07-28")
}

fn busy(message: &str) -> Response {
    ([(RETRY_AFTER, "1")], told(StatusCode::SERVICE_UNAVAILABLE, message)).into_response()
}

/// An answer of ours, in the shape of JSON-RPC.
pub(super) fn told(status: StatusCode, message: &str) -> Response {
    let error =
        serde_json::json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32000, "message": message}});
    (status, [(CONTENT_TYPE, "application/json")], error.to_string()).into_response()
}

/// A body that holds a place, and tells when it is dropped.
struct Held {
    body: Body,
    _permit: OwnedSemaphorePermit,
    _gone: DropGuard,
}

impl HttpBody for Held {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<hyper::body::Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> hyper::body::SizeHint {
        self.body.size_hint()
    }
}
