"""Whoever does not bring the token of an HTTP server."""

import anyio
import httpx2
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

from connection import MODE, URL, check, connected


async def nobody_gets_in_without_the_token():
    for headers in ({}, {"Authorization": "Bearer wrong"}):
        async with httpx2.AsyncClient(headers=headers, timeout=30, trust_env=False) as http:
            # All over one connection, also if the request is refused before it has come to its end.
            for _ in range(2):
                answer = await http.post(URL, content=slowly(b'{"jsonrpc":"2.0","id":1,"method":"ping"}'))
                assert answer.status_code == 401, answer
                assert answer.headers["www-authenticate"].startswith("Bearer"), answer.headers
                assert "Authorization: Bearer" in answer.json()["error"]["message"], answer.text
            try:
                async with Client(streamable_http_client(URL, http_client=http), mode=MODE):
                    raise AssertionError("the client was let in")
            except* (MCPError, httpx2.HTTPStatusError):
                pass


async def slowly(body):
    await anyio.sleep(0.05)
    yield body


async def with_it_one_does():
    async with connected() as client:
        assert (await client.list_tools()).tools


if __name__ == "__main__":
    check(nobody_gets_in_without_the_token, with_it_one_does)
