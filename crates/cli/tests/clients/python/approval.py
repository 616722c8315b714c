"""A command that somebody has to agree to: asked through the client, and where it cannot ask, through the queue."""

import subprocess
from pathlib import Path

from mcp_types import ElicitResult, InputRequiredResult

from connection import MODE, bashtion, check, connected, text_of

# It throws away what is not committed, so a person decides.
RESET = {"command": "git reset --hard"}

FILE = Path("file")


def repository_with_a_change():
    def git(*args):
        subprocess.run(["git", "-c", "user.name=test", "-c", "user.email=test", *args], check=True, capture_output=True)

    if not Path(".git").exists():
        git("init", "--quiet")
        FILE.write_text("committed\n")
        git("add", FILE)
        git("commit", "--quiet", "--message", "first")
    FILE.write_text("changed\n")


def user_who(action, **content):
    """A user who answers every question in the same way, and remembers them."""
    asked = []

    async def answer(_, params):
        asked.append(params)
        return ElicitResult(action=action, content=content or None)

    return asked, answer


async def who_agrees_has_it_run():
    repository_with_a_change()
    asked, answer = user_who("accept", decision="run it")
    async with connected(elicitation_callback=answer) as client:
        result = await client.call_tool("bash", RESET)
    assert result.structured_content["status"] == "exited" and not result.is_error, result
    assert FILE.read_text() == "committed\n"
    [question] = asked
    assert "git reset --hard" in question.message and "why you are asked" in question.message, question
    assert question.requested_schema["properties"]["decision"]["enum"] == ["run it", "do not run it"], question


async def who_declines_does_not():
    repository_with_a_change()
    for action, content in [
        ("decline", {}),
        ("accept", {"decision": "do not run it", "reason": "keep my work"}),
    ]:
        asked, answer = user_who(action, **content)
        async with connected(elicitation_callback=answer) as client:
            result = await client.call_tool("bash", RESET)
        assert result.is_error and result.structured_content["status"] == "refused", result
        assert content.get("reason", "") in text_of(result), result
        assert len(asked) == 1 and FILE.read_text() == "changed\n"


async def who_closes_the_question_leaves_it_open():
    repository_with_a_change()
    asked, answer = user_who("cancel")
    async with connected(elicitation_callback=answer) as client:
        result = await client.call_tool("bash", RESET)
    assert result.structured_content["status"] == "needs_approval", result
    assert len(asked) == 1 and FILE.read_text() == "changed\n"


async def an_answer_holds_for_its_question_only():
    """In the newer protocol the client carries the question to and fro: what it changes on the way counts for nothing."""
    if MODE == "legacy":
        return
    repository_with_a_change()
    _, nobody = user_who("cancel")
    yes = {"approval": ElicitResult(action="accept", content={"decision": "run it"})}
    async with connected(elicitation_callback=nobody) as client:

        async def call(arguments, answers=None, state=None):
            return await client.session.call_tool(
                "bash", arguments, input_responses=answers, request_state=state, allow_input_required=True
            )

        asked = await call(RESET)
        assert isinstance(asked, InputRequiredResult) and list(asked.input_requests) == ["approval"], asked
        state = asked.request_state
        changed = state[:-1] + ("A" if state[-1] != "A" else "B")
        for arguments, brought in [
            (RESET, None),
            (RESET, changed),
            ({"command": "git reset --hard HEAD"}, state),
            (RESET | {"env": {"OTHER": "1"}}, state),
        ]:
            again = await call(arguments, yes, brought)
            asked_again = isinstance(again, InputRequiredResult)
            assert asked_again or again.structured_content["status"] == "refused", (arguments, again)
            assert FILE.read_text() == "changed\n"
        ran = await call(RESET, yes, state)
        assert ran.structured_content["status"] == "exited", ran
        repository_with_a_change()
        twice = await call(RESET, yes, state)
        assert isinstance(twice, InputRequiredResult) and FILE.read_text() == "changed\n", twice


async def who_cannot_be_asked_finds_the_question_in_the_queue():
    repository_with_a_change()
    async with connected() as client:
        result = await client.call_tool("bash", RESET)
        told = result.structured_content
        assert told["status"] == "needs_approval" and not result.is_error, result
        question = {"approval_id": told["approval_id"]}
        assert told["approval_id"] in text_of(result), result
        assert FILE.read_text() == "changed\n"

        waiting = await client.call_tool("approval", question | {"timeout_ms": 0})
        assert waiting.structured_content["state"] == "waiting", waiting
        bashtion("approve", told["approval_id"], "--yes")
        approved = await client.call_tool("approval", question)
        assert approved.structured_content["state"] == "approved", approved

        again = await client.call_tool("bash", RESET)
        assert again.structured_content["status"] == "exited", again
        assert FILE.read_text() == "committed\n"
        # Once.
        repository_with_a_change()
        once_more = await client.call_tool("bash", RESET)
        assert once_more.structured_content["status"] == "needs_approval", once_more
        assert FILE.read_text() == "changed\n"


if __name__ == "__main__":
    check(
        who_agrees_has_it_run,
        who_declines_does_not,
        who_closes_the_question_leaves_it_open,
        an_answer_holds_for_its_question_only,
        who_cannot_be_asked_finds_the_question_in_the_queue,
    )
