"""The quality of a model as the assistant: 150 frozen requests through the real prompt and tools.

    uv run -m workbench.benchmarks.assistant --model openai/gpt-5-mini
    uv run -m workbench.benchmarks.assistant --model openai/qwen3:8b --base http://127.0.0.1:11434/v1

`requests.json` holds 25 scenarios, each in six languages: plain requests, plans, agents, follow-ups, messages that need
no action, questions that need a question back, and double requests. Each request is a turn of a person of its own, at a
frozen moment, with a weather service that answers at once; an action that needs consent waits for it. Measured are the
first tool, its arguments, model calls, tokens, money and time.
"""
