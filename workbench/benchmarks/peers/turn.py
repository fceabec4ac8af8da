"""A turn by a peer, run in its own environment: nothing of ours is imported here.

    python turn.py NAME SERVER

Each line on stdin is "SHAPE TIMES RATED IN_FLIGHT"; each answer is a line of JSON: CPU in ms a turn, and turns a second
(null if no rate is to be measured). `few` and `many` are shapes of streamed answers, `whole` is not streamed.
"""

import asyncio
import json
import os
import resource
import sys
import time

TEXT = "What is the weather in Paris, and what do I have on Monday?"
KEY = "sk-bench"
SHAPES = ("few", "many", "whole")
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": said,
            "parameters": {"type": "object", "properties": {argument: {"type": "string"}}, "required": [argument]},
        },
    }
    for name, argument, said in (
        ("weather", "city", "Tell the weather in a city."),
        ("calendar", "day", "Return what is on a day."),
    )
]


async def weather(city: str) -> str:
    """Tell the weather in a city."""
    return "sunny"


async def calendar(day: str) -> str:
    """Return the events of a day."""
    return "free"


def agno(base, streamed):
    """Return a turn of agno's."""
    from agno.agent import Agent
    from agno.models.openai import OpenAIChat

    model = OpenAIChat(id="scripted", base_url=base, api_key=KEY)
    agent = Agent(model=model, tools=[weather, calendar], telemetry=False)

    async def one():
        if not streamed:
            return (await agent.arun(TEXT)).content
        return "".join([event.content async for event in agent.arun(TEXT, stream=True) if event.content])

    return one


def openai_agents(base, streamed):
    """Return a turn of OpenAI's agents."""
    from openai import AsyncOpenAI

    from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool, set_tracing_disabled

    set_tracing_disabled(True)
    model = OpenAIChatCompletionsModel("scripted", AsyncOpenAI(base_url=base, api_key=KEY))
    agent = Agent(name="valet", model=model, tools=[function_tool(weather), function_tool(calendar)])

    async def one():
        if not streamed:
            return (await Runner.run(agent, TEXT)).final_output
        result = Runner.run_streamed(agent, TEXT)
        async for _ in result.stream_events():
            pass
        return result.final_output

    return one


def langgraph(base, streamed):
    """Return a turn of langgraph's, by langchain's agent."""
    from langchain.agents import create_agent
    from langchain_openai import ChatOpenAI

    agent = create_agent(ChatOpenAI(model="scripted", base_url=base, api_key=KEY), tools=[weather, calendar])
    asked = {"messages": [("user", TEXT)]}

    async def one():
        if not streamed:
            return (await agent.ainvoke(asked))["messages"][-1].content
        return "".join([chunk.content async for chunk, _ in agent.astream(asked, stream_mode="messages")])

    return one


def pydantic_ai(base, streamed):
    """Return a turn of pydantic-ai's."""
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    agent = Agent(OpenAIChatModel("scripted", provider=OpenAIProvider(base_url=base, api_key=KEY)))
    agent.tool_plain(weather)
    agent.tool_plain(calendar)

    async def one():
        if not streamed:
            return (await agent.run(TEXT)).output
        async with agent.run_stream(TEXT) as result:
            return "".join([piece async for piece in result.stream_text(delta=True, debounce_by=None)])

    return one


def litellm(base, streamed):
    """Return a turn of two of litellm's calls, the tools run by hand."""
    import litellm as library

    library.telemetry = False

    async def ask(messages):
        response = await library.acompletion(
            model="openai/scripted", api_base=base, api_key=KEY, messages=messages, tools=TOOLS, stream=streamed
        )
        if streamed:
            response = library.stream_chunk_builder([chunk async for chunk in response])
        return response.choices[0].message

    async def one():
        messages = [{"role": "user", "content": TEXT}]
        first = await ask(messages)
        messages.append(first.model_dump())
        for call in first.tool_calls:
            tool = {"weather": weather, "calendar": calendar}[call.function.name]
            result = await tool(**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
        return (await ask(messages)).content

    return one


async def serve(turns, answers) -> None:
    """Measure as the lines say."""
    for shape, one in turns.items():
        answer = await one()
        if "word199" not in str(answer):
            raise SystemExit(f"an unexpected answer, {shape}: {answer!r}")
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        shape, *numbers = line.split()
        times, rated, in_flight = map(int, numbers)
        one, began = turns[shape], cpu()
        for _ in range(times):
            await one()
        spent = (cpu() - began) / times * 1000
        rate = await turns_a_second(one, rated, in_flight) if rated else None
        answers.write(json.dumps([spent, rate]) + "\n")
        answers.flush()


async def turns_a_second(one, times, in_flight) -> float:
    """Run `times` turns, `in_flight` at a time."""
    left, started = iter(range(times)), time.perf_counter()

    async def some() -> None:
        for _ in left:
            await one()

    await asyncio.gather(*(some() for _ in range(in_flight)))
    return times / (time.perf_counter() - started)


def cpu() -> float:
    """Return this process' own CPU, in seconds."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Make the peer's turn and measure it."""
    import uvloop

    name, server = sys.argv[1:]
    makers = {
        "agno": agno,
        "openai-agents": openai_agents,
        "langgraph": langgraph,
        "pydantic-ai": pydantic_ai,
        "litellm": litellm,
    }

    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # libraries print

    async def all_of_it() -> None:
        turns = {shape: makers[name](f"{server}/{shape}/v1", shape != "whole") for shape in SHAPES}
        await serve(turns, answers)

    uvloop.run(all_of_it())


if __name__ == "__main__":
    main()
