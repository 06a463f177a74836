"""tools.py - the tools of the demo server, for a server of either version."""
import asyncio
import sys


def add_tools(server, context_type, error_type, tell_change):
    """`tell_change(context)` sends the notification, where it has to go."""
    cancelled = []

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

    @server.tool()
    def stopped() -> str:
        return f'{len(cancelled)} stopped'

    async def slow(steps: int, delay_ms: int, context) -> str:
        try:
            for step in range(1, steps + 1):
                await asyncio.sleep(delay_ms / 1000)
                await context.report_progress(step, steps)
        except asyncio.CancelledError:
            cancelled.append(context.request_id)
            raise
        return f'{steps} steps'

    def vault() -> str:
        return 'dust'

    async def unlock(context) -> str:
        server.add_tool(vault)
        await tell_change(context)
        return 'unlocked'

    for tool in slow, unlock:
        tool.__annotations__['context'] = context_type
        server.tool()(tool)


def serve(server):
    """On stdio; or with a port, at /mcp and, as was usual in 2024, at /sse."""
    if len(sys.argv) < 2:
        server.run('stdio')
        return
    import uvicorn
    app = server.streamable_http_app()
    app.router.routes.extend(server.sse_app().routes)
    uvicorn.run(app, host='127.0.0.1', port=int(sys.argv[1]),
                log_level='warning')
