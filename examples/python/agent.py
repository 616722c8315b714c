"""A small agent whose shell is Bashtion, over MCP. See ../README.md."""

import asyncio
import json
import os
import sys
import urllib.request

from mcp import Client, StdioServerParameters
from mcp_types import ElicitResult

BASE_URL = os.environ.get("BASE_URL", "http://127.0.0.1:11434/v1")
MODEL = os.environ.get("MODEL", "qwen3")
API_KEY = os.environ.get("API_KEY", "none")
# One text per answer is enough here: it says everything that the structured part would.
SERVER = StdioServerParameters(command=os.environ.get("BASHTION", "bashtion"), args=["serve", "--text-only"])
MOST_TURNS = 50


def ask_model(messages, tools):
    """The next message of the model: what it says, or the calls it wants made."""
    body = json.dumps({"model": MODEL, "messages": messages, "tools": tools}).encode()
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {API_KEY}"}
    request = urllib.request.Request(f"{BASE_URL}/chat/completions", body, headers)
    with urllib.request.urlopen(request, timeout=600) as answer:
        return json.load(answer)["choices"][0]["message"]


async def ask_user(_, question):
    """Bashtion wants somebody to agree. The question says to what, and why."""
    said = await asyncio.to_thread(input, f"{question.message}\nRun it? [y/N] ")
    decision = "run it" if said.strip().lower() in ("y", "yes") else "do not run it"
    return ElicitResult(action="accept", content={"decision": decision})


async def show_progress(_seconds, _total, printed):
    """What a command prints while it runs."""
    print(printed or "", end="", file=sys.stderr, flush=True)


async def run(client, call):
    """Makes one call of the model. What is wrong with it is for the model, too."""
    try:
        arguments = json.loads(call["function"]["arguments"] or "{}")
    except ValueError as error:
        return f"the arguments are not JSON: {error}"
    result = await client.call_tool(call["function"]["name"], arguments, progress_callback=show_progress)
    return "\n".join(block.text for block in result.content if block.type == "text")


async def agent(task):
    # A client that can ask nobody must not say that it can: the question then waits for `bashtion approve`.
    can_ask = {"elicitation_callback": ask_user} if sys.stdin.isatty() else {}
    async with Client(SERVER, **can_ask) as client:
        tools = [
            {
                "type": "function",
                "function": {"name": tool.name, "description": tool.description, "parameters": tool.input_schema},
            }
            for tool in (await client.list_tools()).tools
        ]
        messages = [{"role": "system", "content": client.instructions}, {"role": "user", "content": task}]
        for _ in range(MOST_TURNS):
            message = await asyncio.to_thread(ask_model, messages, tools)
            messages.append(message)
            if not message.get("tool_calls"):
                return message["content"]
            for call in message["tool_calls"]:
                # Ctrl-C cancels this call, and the server then ends the command with all its processes.
                result = await run(client, call)
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
        return f"no end after {MOST_TURNS} turns"


if __name__ == "__main__":
    try:
        print(asyncio.run(agent(" ".join(sys.argv[1:]) or "What is in this directory?")))
    except KeyboardInterrupt:
        sys.exit(130)
