//! The form of a request, checked before anything else looks at it.

use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::header::{CONNECTION, HOST};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::guard::told;

/// The largest body of a request.
pub(super) const LARGEST_BODY: usize = 4 << 20;
/// The time for all of a body.
const BODY_TIME: Duration = Duration::from_secs(15);

/// Refuses a request that does not say by which name it calls the server, or says it twice: a proxy in front of it and the check
/// of names behind this could each believe another one. <https://www.rfc-editor.org/rfc/rfc9112#section-3.2>
pub(super) async fn refuse_doubtful_names(request: Request, next: Next) -> Response {
    match problem_of(&request) {
        None => next.run(request).await,
        Some(problem) => closing(told(StatusCode::BAD_REQUEST, problem)),
    }
}

fn problem_of(request: &Request) -> Option<&'static str> {
    if request.uri().scheme().is_some() || request.uri().authority().is_some() {
        return Some("the request must name a path, such as /mcp, and not a whole address: this is no proxy");
    }
    match request.headers().get_all(HOST).iter().count() {
        0 => Some("the request has no Host header"),
        1 => None,
        _ => Some("the request has more than one Host header"),
    }
}

/// Takes in the whole body, or says why it cannot be had. A client that never ends it would keep its place for ever.
pub(super) async fn with_whole_body(request: Request) -> Result<Request, Response> {
    let (parts, body) = request.into_parts();
    match tokio::time::timeout(BODY_TIME, to_bytes(body, LARGEST_BODY)).await {
        Ok(Ok(bytes)) => Ok(Request::from_parts(parts, Body::from(bytes))),
        Ok(Err(error)) if is_too_large(&error) => {
            let most = format!("the body of a request may have {LARGEST_BODY} bytes");
            Err(closing(told(StatusCode::PAYLOAD_TOO_LARGE, &most)))
        }
        Ok(Err(_)) => {
            Err(closing(told(StatusCode::BAD_REQUEST, "the body of the request could not be read")))
        }
        Err(_) => {
            let late = format!("the body of the request did not come within {} seconds", BODY_TIME.as_secs());
            Err(closing(told(StatusCode::REQUEST_TIMEOUT, &late)))
        }
    }
}

fn is_too_large(error: &axum::Error) -> bool {
    std::error::Error::source(error)
        .is_some_and(<dyn std::error::Error>::is::<http_body_util::LengthLimitError>)
}

/// An answer after which nothing more is read.
fn closing(answer: Response) -> Response {
    ([(CONNECTION, "close")], answer).into_response()
}
