"One question and one answer, asked in this process: nothing that a model writes runs where the harness runs."
import verifiers.v1 as vf
from openai import AsyncOpenAI


class OneTurnConfig(vf.HarnessConfig):
    "Nothing to set."


class OneTurn(vf.Harness[OneTurnConfig]):
    "Needs neither a container nor a process of its own."
    APPENDS_SYSTEM_PROMPT, EXECUTES_CODE, NEEDS_CONTAINER = True, False, False

    async def launch(self, ctx: vf.ModelContext, trace: vf.Trace, runtime: vf.Runtime, endpoint: str, secret: str,
                     mcp_urls: dict[str, str], data: vf.TaskData) -> vf.ProgramResult:
        "Ask the model through verifiers' own endpoint, which records question and answer in the trace."
        system, prompt = self.resolve_text_prompt(data)
        turns = [dict(role='system', content=system)] if system else []
        async with AsyncOpenAI(base_url=endpoint, api_key=secret, timeout=None, max_retries=0) as client:
            await client.chat.completions.create(model=ctx.model, messages=[*turns, dict(role='user', content=prompt)])
        return vf.ProgramResult(0, '', '')
