//! Many clients, over HTTP.

mod form;
mod guard;
mod token;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::StatusCode;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::get;
use bashtion::CancellationToken;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rustix::net::sockopt::set_tcp_user_timeout;
use rustix::process::{Resource, getrlimit};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::task::TaskTracker;

use form::{LARGEST_BODY, refuse_doubtful_names};
pub(crate) use guard::Connection;
use guard::{Gate, pass, told};
pub use token::{Provenance, Token};

use crate::{ServeError, Server};

/// Where to listen, and to whom.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HttpSettings {
    /// Port 0: any that is free.
    pub address: SocketAddr,
    /// What clients have to bring. Without it only this machine is listened to.
    pub token: Option<Token>,
    /// Names beside those of this machine's loopback under which clients may call it.
    pub hosts: Vec<String>,
}

impl HttpSettings {
    /// For clients with the token, on one address.
    #[must_use]
    pub fn new(address: SocketAddr, token: Option<Token>) -> Self {
        Self { address, token, hosts: vec![] }
    }
}

/// A server that listens.
#[derive(Debug)]
pub struct Http {
    listener: TcpListener,
    address: SocketAddr,
    settings: HttpSettings,
}

/// The same limit for everybody: no more than a quarter of what may be open.
fn most_connections() -> usize {
    const MOST: u64 = 256;
    let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    usize::try_from((limit / 4).clamp(8, MOST)).unwrap_or(8)
}
/// The time for all headers of a request.
const HEADER_TIME: Duration = Duration::from_secs(10);
const UNREAD_TIME_MS: u32 = 60_000;
/// A session that nobody has used for so long is forgotten.
const SESSION_TIME: Duration = Duration::from_secs(24 * 60 * 60);

impl Http {
    /// Takes the address. Nobody is answered yet.
    pub async fn bind(settings: HttpSettings) -> Result<Self, ServeError> {
        let wanted = settings.address;
        if settings.token.is_none() && !wanted.ip().is_loopback() {
            return Err(ServeError::OpenToAll { address: wanted });
        }
        let failed = |source| ServeError::Listen { address: wanted, source };
        let listener = TcpListener::bind(wanted).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, address, settings })
    }

    /// Where clients find it.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Serves until it is told to stop; then running calls get their answer, and connections end.
    pub async fn serve(self, server: &Server, stop: CancellationToken) {
        let quit = CancellationToken::new();
        let routes = self.routes(server, &quit);
        let places = Arc::new(Semaphore::new(most_connections()));
        let connections = TaskTracker::new();
        loop {
            let accepted = tokio::select! {
                () = stop.cancelled() => break,
                accepted = accept(&self.listener, &places) => accepted,
            };
            let Some((stream, place)) = accepted else { continue };
            let connection = serve_connection(stream, routes.clone(), quit.clone());
            connections.spawn(async move {
                connection.await;
                drop(place);
            });
        }
        drop(self.listener);
        server.stop().await;
        // The last answers are on their way.
        tokio::time::sleep(Duration::from_millis(50)).await;
        quit.cancel();
        connections.close();
        let _ = tokio::time::timeout(Duration::from_secs(2), connections.wait()).await;
    }

    fn routes(&self, server: &Server, quit: &CancellationToken) -> Router {
        let mut sessions = LocalSessionManager::default();
        sessions.session_config = SessionConfig::default();
        sessions.session_config.keep_alive = Some(SESSION_TIME);
        let sessions = Arc::new(sessions);
        let (hosts, origins) = self.names();
        let config = StreamableHttpServerConfig::default()
            .with_allowed_hosts(hosts)
            .with_allowed_origins(origins)
            .with_max_request_body_bytes(LARGEST_BODY)
            .with_cancellation_token(quit.clone());
        let server = server.clone();
        let mcp = StreamableHttpService::new(move || Ok(server.clone()), Arc::clone(&sessions), config);
        let gate = Arc::new(Gate::new(self.settings.token.clone(), sessions));
        let elsewhere = || async { told(StatusCode::NOT_FOUND, "there is nothing here; MCP is at /mcp") };
        Router::new()
            .route_service("/mcp", mcp)
            .fallback(elsewhere)
            .layer(from_fn_with_state(gate, pass))
            .route("/health", get(|| async { "{\"status\":\"ok\"}\n" }))
            .layer(from_fn(refuse_doubtful_names))
    }

    /// By which names it may be called, and whose pages may call it: a page of another site may not.
    fn names(&self) -> (Vec<String>, Vec<String>) {
        let mut hosts: Vec<String> = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).to_vec();
        let own = self.address.ip();
        if !own.is_unspecified() && !own.is_loopback() {
            hosts.push(own.to_string());
        }
        hosts.extend(self.settings.hosts.iter().cloned());
        let origins = hosts.iter().flat_map(|host| {
            let host =
                if host.contains(':') && !host.starts_with('[') { format!("[{host}]") } else { host.clone() };
            [format!("http://{host}:*"), format!("https://{host}:*")]
        });
        let origins = origins.collect();
        (hosts, origins)
    }
}

/// The next client, when there is room for one.
async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> Option<(TcpStream, tokio::sync::OwnedSemaphorePermit)> {
    let place = Arc::clone(places).acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, _)) => {
            // Answers are small, and wait for nothing. Who does not take them at all is let go.
            let _ = stream.set_nodelay(true);
            let _ = set_tcp_user_timeout(&stream, UNREAD_TIME_MS);
            Some((stream, place))
        }
        Err(error) => {
            tracing::warn!("cannot accept a client: {error}");
            tokio::time::sleep(Duration::from_millis(100)).await;
            None
        }
    }
}

async fn serve_connection(stream: TcpStream, routes: Router, quit: CancellationToken) {
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEADER_TIME);
    let connection = builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(routes));
    let mut connection = std::pin::pin!(connection);
    let done = tokio::select! {
        done = &mut connection => done,
        () = quit.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = done {
        tracing::debug!("a connection ended early: {error}");
    }
}
