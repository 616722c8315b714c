//! What keeps a server from serving.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// The server could not begin, or could not go on.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The client began with something that is no MCP.
    #[error("the client did not begin as MCP clients do")]
    Handshake {
        /// What it did.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The address cannot be had.
    #[error("cannot listen on {address}")]
    Listen {
        /// Which.
        address: SocketAddr,
        /// What the kernel said.
        source: io::Error,
    },
    /// Anybody on the network could run commands.
    #[error("{address} can be reached from other machines, so clients must bring a token")]
    OpenToAll {
        /// Where.
        address: SocketAddr,
    },
    /// The token cannot be read or made.
    #[error("cannot use the token in {}", path.display())]
    Token {
        /// Where.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}
