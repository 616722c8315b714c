"""What is offered, and what comes of a command."""

from pathlib import Path

import anyio
import jsonschema

from connection import check, connected, lives, text_of, unique_seconds, until

TOOLS = ["bash", "task_list", "task_output", "task_wait", "task_kill", "approval"]


async def tools_come_in_order_and_say_what_they_do():
    async with connected() as client:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == TOOLS
        hints = {tool.name: tool.annotations for tool in tools}
        assert not hints["bash"].read_only_hint and hints["bash"].destructive_hint
        assert not hints["bash"].open_world_hint, "the sandbox has no network"
        assert [name for name in TOOLS if hints[name].read_only_hint] == [
            "task_list", "task_output", "task_wait", "approval",
        ]
        assert hints["task_kill"].destructive_hint and hints["task_kill"].idempotent_hint
        assert all(tool.description and hints[tool.name].title for tool in tools)
        assert "bash" in client.instructions


async def a_failed_command_is_no_failed_call():
    async with connected() as client:
        result = await client.call_tool("bash", {"command": "echo out; echo err >&2; exit 7"})
        assert not result.is_error
        first, *rest = text_of(result).splitlines()
        assert first.startswith("exit 7 after "), first
        assert rest == ["out", "standard error:", "err"], rest
        told = result.structured_content
        assert (told["status"], told["exit_code"], told["success"]) == ("exited", 7, False)
        assert (told["stdout"], told["stderr"]) == ("out\n", "err\n")


async def a_refused_command_is_a_failed_call():
    async with connected() as client:
        result = await client.call_tool("bash", {"command": "mkfs.ext4 /dev/no-such-device; touch ran"})
        assert result.is_error and result.structured_content["status"] == "refused"
        assert not Path("ran").exists()
        wrong = await client.call_tool("bash", {"comand": "true"})
        assert wrong.is_error and "comand" in text_of(wrong), wrong


async def structured_content_is_what_the_schema_says():
    async with connected() as client:
        schemas = {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}
        commands = ["true", "exit 3", "kill -9 $$", "seq 100000", "mkfs.ext4 /dev/no-such-device", "true | false"]
        calls = [("bash", {"command": command}) for command in commands]
        calls += [("bash", {"command": "sleep 5", "timeout_ms": 100}), ("task_list", {})]
        for name, arguments in calls:
            result = await client.call_tool(name, arguments)
            jsonschema.validate(result.structured_content, schemas[name])
            assert result.structured_content, (name, arguments)


async def output_comes_while_the_command_runs():
    go = Path("go")
    seen = []

    async def progress(amount, total, message):
        seen.append((amount, message))
        if "first" in (message or ""):
            go.touch()

    async with connected() as client:
        # It ends only if what it printed first has been seen.
        command = "echo first; until [ -e go ]; do sleep 0.05; done; echo last"
        result = await client.call_tool("bash", {"command": command, "timeout_ms": 20_000}, progress_callback=progress)
        assert result.structured_content["stdout"] == "first\nlast\n", result
    amounts = [amount for amount, _ in seen]
    assert amounts == sorted(set(amounts)), f"progress only grows: {seen}"
    go.unlink()


async def cancelling_ends_the_command_at_once():
    seconds = unique_seconds()
    async with connected() as client:
        async with anyio.create_task_group() as tasks:
            # Deaf to what can be ignored, with a child that is no child of the shell any more.
            command = f"trap '' TERM; (setsid sleep {seconds} &); sleep {seconds}; sleep {seconds}"
            tasks.start_soon(client.call_tool, "bash", {"command": command})
            await until("it runs", lambda: lives(seconds))
            tasks.cancel_scope.cancel()
        await until("it is gone", lambda: not lives(seconds), seconds=3)
        # The connection goes on.
        result = await client.call_tool("bash", {"command": "echo still here"})
        assert result.structured_content["stdout"] == "still here\n", result


async def a_client_that_leaves_takes_its_command_along():
    seconds = unique_seconds()
    async with anyio.create_task_group() as tasks:

        async def wait_for_it():
            async with connected() as client:
                await client.call_tool("bash", {"command": f"sleep {seconds}"})

        tasks.start_soon(wait_for_it)
        await until("it runs", lambda: lives(seconds))
        tasks.cancel_scope.cancel()
    await until("it is gone", lambda: not lives(seconds), seconds=5)


if __name__ == "__main__":
    check(
        tools_come_in_order_and_say_what_they_do,
        a_failed_command_is_no_failed_call,
        a_refused_command_is_a_failed_call,
        structured_content_is_what_the_schema_says,
        output_comes_while_the_command_runs,
        cancelling_ends_the_command_at_once,
        a_client_that_leaves_takes_its_command_along,
    )
