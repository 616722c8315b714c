"""How the checks reach the server, and what they look at besides its answers."""

import contextlib
import logging
import os
import subprocess
import sys
import time
from pathlib import Path

import anyio
import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

# The protocol that each mode of the client ends up with, if the server knows both.
PROTOCOLS = {"legacy": "2025-11-25", "auto": "2026-07-28"}

BASHTION = os.environ["BASHTION"]
# Where the server listens; without it each connection has a server of its own, over standard input and output.
URL = os.environ.get("URL")
MODE = os.environ["MODE"]


@contextlib.asynccontextmanager
async def connected(**options):
    """A client that has said hello in the protocol of this run."""
    async with transport() as way:
        async with Client(way, mode=MODE, read_timeout_seconds=60, **options) as client:
            assert client.protocol_version == PROTOCOLS[MODE], client.protocol_version
            yield client


@contextlib.asynccontextmanager
async def transport():
    if URL is None:
        # Its environment is otherwise what the SDK thinks harmless; the home tells whose process it is.
        yield StdioServerParameters(command=BASHTION, args=["serve"], env={"HOME": os.environ["HOME"]})
        return
    headers = {"Authorization": f"Bearer {os.environ['TOKEN']}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False) as http:
        yield streamable_http_client(URL, http_client=http)


async def until(what, condition, seconds=20):
    """Waits for a condition; what never comes true is an error."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"waited in vain: {what}"
        await anyio.sleep(0.02)


def lives(word):
    """Whether a process has this word on its command line."""
    for cmdline in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if word.encode() in cmdline.read_bytes().split(b"\0"):
                return True
    return False


def unique_seconds():
    """So long that nobody waits for it, and nobody else sleeps for just as long."""
    return f"98765.{os.getpid()}{time.monotonic_ns() % 1_000_000_000}"


def text_of(result):
    return "\n".join(block.text for block in result.content)


def bashtion(*args):
    done = subprocess.run([BASHTION, *args], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done
    return done.stdout


def check(*checks):
    """Runs them one after the other, and says which one it is. The SDK must have nothing to complain about."""
    complaints = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: complaints.append(record.getMessage())
    logging.getLogger().addHandler(handler)
    for each in checks:
        print(each.__name__.replace("_", " "), file=sys.stderr)
        anyio.run(each)
        assert not complaints, complaints
