"""tools.py - the tools of the demo server, for a server of either version."""
import asyncio


def add_tools(server, context_type, error_type):
    @server.tool()
    def echo(text: str) -> str:
        return text

    @server.tool()
    def add(a: float, b: float) -> float:
        return a + b

    @server.tool()
    def large(bytes: int) -> str:
        return 'x' * bytes

    @server.tool()
    def fail(message: str) -> str:
        raise error_type(message)

    async def slow(steps: int, delay_ms: int, context) -> str:
        for step in range(1, steps + 1):
            await asyncio.sleep(delay_ms / 1000)
            await context.report_progress(step, steps)
        return f'{steps} steps'

    slow.__annotations__['context'] = context_type
    server.tool()(slow)
