"""What an operator asks the engine to be asked: messages of agent.proto as the API's own types. Pure."""

from typing import Final

from pydantic import ValidationError

from weightrollout.agent.reasons import RefusalReason, Refused
from weightrollout.api.spec import Expect, Prompt
from weightrollout.wire.agent import agent_pb2 as pb

MAX_PROMPTS: Final = 16


def prompts(message: pb.SwapRequest) -> tuple[Prompt, ...]:
    """Raises Refused."""
    if len(message.prompts) > MAX_PROMPTS:
        raise Refused(RefusalReason.BAD_REQUEST, f"more than {MAX_PROMPTS} prompts")
    try:
        return tuple(
            Prompt(
                prompt=each.prompt,
                max_tokens=each.max_tokens,
                expect=Expect(
                    contains=each.contains or None,
                    regex=each.regex or None,
                    token_ids=tuple(each.token_ids) or None,
                ),
            )
            for each in message.prompts
        )
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        raise Refused(
            RefusalReason.BAD_REQUEST,
            f"prompts: {first['loc'][-1] if first['loc'] else 'expect'}: {first['msg']}",
        ) from error
