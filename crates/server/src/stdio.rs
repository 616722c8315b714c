//! One client, on standard input and output.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bashtion::CancellationToken;
use rmcp::model::JsonRpcMessage;
use rmcp::service::{RxJsonRpcMessage, ServerInitializeError, TxJsonRpcMessage};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::{StdioReader, StdioWriter, Transport, stdio_pipes};
use rmcp::{RoleServer, ServiceExt};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::time::{sleep, timeout};

use crate::{ServeError, Server};

/// How long what was asked for may take when the client asks no more; as the protocol library has it.
const LAST_ANSWERS: Duration = Duration::from_secs(5);
/// How long the last answers may take on their way.
const LAST_WORDS: Duration = Duration::from_secs(3);

/// Serves the client until it closes its end, or until it is told to stop.
///
/// A client that has closed our input but still reads gets the answers to what it has asked, if they come within five seconds.
/// When it is gone, the commands it waits for are ended at once.
pub async fn serve_stdio(server: &Server, stop: CancellationToken) -> Result<(), ServeError> {
    let (reader, writer) = stdio_pipes();
    let (closed, gone, quit) = (CancellationToken::new(), CancellationToken::new(), CancellationToken::new());
    let reader = Watched { reader, closed: closed.clone() };
    let transport = Opening { inner: AsyncRwTransport::new_server(reader, writer), begun: false };
    let watch = tokio::spawn(notice_absence(closed.clone(), gone.clone()));
    let serving = async {
        let service = Box::pin(server.for_client(gone).serve_with_ct(transport, quit.clone())).await?;
        let _ = service.waiting().await;
        Ok(())
    };
    let mut serving = std::pin::pin!(serving);
    // A client that is there and reads nothing is not waited for.
    let served = tokio::select! {
        served = &mut serving => served,
        () = async { closed.cancelled().await; sleep(LAST_ANSWERS + LAST_WORDS).await } => Ok(()),
        () = stop.cancelled() => {
            // What was running gets its answer first.
            server.stop().await;
            quit.cancel();
            timeout(LAST_WORDS, serving).await.unwrap_or(Ok(()))
        }
    };
    watch.abort();
    server.stop().await;
    match served {
        // It came to say nothing.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) | Ok(()) => Ok(()),
        Err(error) => Err(ServeError::Handshake { source: Box::new(error) }),
    }
}

/// Tells when nobody reads any more, once our input is closed.
async fn notice_absence(closed: CancellationToken, gone: CancellationToken) {
    const PAUSE: Duration = Duration::from_millis(50);
    closed.cancelled().await;
    while !nobody_reads() {
        sleep(PAUSE).await;
    }
    gone.cancel();
}

fn nobody_reads() -> bool {
    let output = rustix::stdio::stdout();
    let mut fds = [PollFd::new(&output, PollFlags::empty())];
    poll(&mut fds, Some(&Timespec::default())).is_ok()
        && fds[0].revents().intersects(PollFlags::ERR | PollFlags::HUP)
}

/// Standard input that tells when it is closed.
struct Watched {
    reader: StdioReader,
    closed: CancellationToken,
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.reader).poll_read(context, buffer);
        let is_end = matches!(read, Poll::Ready(Err(_)))
            || matches!(read, Poll::Ready(Ok(()))) && buffer.filled().len() == before;
        if is_end {
            self.closed.cancel();
        }
        read
    }
}

/// Until the first request nothing else counts: a client that begins with something else would end the server.
struct Opening {
    inner: AsyncRwTransport<RoleServer, Watched, StdioWriter>,
    begun: bool,
}

impl Transport<RoleServer> for Opening {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let message = self.inner.receive().await?;
            self.begun |= matches!(message, JsonRpcMessage::Request(_));
            if self.begun {
                return Some(message);
            }
            tracing::warn!("ignored a message before the first request");
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}
