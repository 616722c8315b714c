"""A background task from its start to its end."""

from connection import check, connected, lives, text_of, unique_seconds, until


async def a_task_is_started_looked_at_waited_for_and_ended():
    seconds = unique_seconds()
    async with connected() as client:
        command = f"echo started; sleep {seconds}"
        result = await client.call_tool("bash", {"command": command, "mode": "background"})
        told = result.structured_content
        task = {"task_id": told["task_id"]}
        assert told["status"] == "running" and not result.is_error, told
        assert told["task_id"] in text_of(result), "the text says as much as the object"

        await until("it runs", lambda: lives(seconds))
        output = await client.call_tool("task_output", task)
        while "started" not in output.structured_content["output"]:
            output = await client.call_tool("task_output", task)
        since = {"since": output.structured_content["next_offset"]}
        nothing_new = await client.call_tool("task_output", task | since)
        assert nothing_new.structured_content["output"] == "", nothing_new

        still = await client.call_tool("task_wait", task | {"timeout_ms": 100})
        assert still.structured_content["status"] == "running", still

    # Another connection finds it: nothing depends on who has started it.
    async with connected() as client:
        assert lives(seconds)
        listed = (await client.call_tool("task_list", {"running": True})).structured_content["tasks"]
        assert [each["task_id"] for each in listed] == [task["task_id"]], listed

        killed = await client.call_tool("task_kill", task)
        assert killed.structured_content["status"] in ("signaled", "cancelled"), killed
        assert not lives(seconds)
        ended = await client.call_tool("task_wait", task)
        assert ended.structured_content["status"] == killed.structured_content["status"], ended
        assert ended.structured_content["stdout"] == "started\n", ended


async def a_task_that_ends_by_itself_tells_how():
    async with connected() as client:
        started = await client.call_tool("bash", {"command": "echo done; exit 5", "mode": "background"})
        ended = await client.call_tool("task_wait", {"task_id": started.structured_content["task_id"]})
        told = ended.structured_content
        assert (told["status"], told["exit_code"], told["stdout"]) == ("exited", 5, "done\n"), told
        assert text_of(ended).startswith("exit 5 after "), ended


async def a_task_that_is_none_is_said_to_be_none():
    async with connected() as client:
        for name in ("task_output", "task_wait", "task_kill"):
            result = await client.call_tool(name, {"task_id": "no-such-task"})
            assert result.is_error and "no-such-task" in text_of(result), (name, result)


if __name__ == "__main__":
    check(
        a_task_is_started_looked_at_waited_for_and_ended,
        a_task_that_ends_by_itself_tells_how,
        a_task_that_is_none_is_said_to_be_none,
    )
