/*
 * tools.mjs - the tools of the demo server, for a server of either version.
 *
 * `notify(context, params)` sends a progress notification; that is the only
 * thing in which the versions differ here.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';

const text = (value) => ({ content: [{ type: 'text', text: String(value) }] });

export function addTools(server, tokenOf, notify) {
    const tool = (name, shape, run) => server.registerTool(
        name, { description: name, inputSchema: z.object(shape) }, run);

    tool('echo', { text: z.string() }, async (input) => text(input.text));
    tool('add', { a: z.number(), b: z.number() },
        async ({ a, b }) => text(a + b));
    tool('large', { bytes: z.number() },
        async ({ bytes }) => text('x'.repeat(bytes)));
    tool('fail', { message: z.string() },
        async ({ message }) => ({ ...text(message), isError: true }));

    tool('slow', { steps: z.number(), delay_ms: z.number() },
        async ({ steps, delay_ms }, context) => {
            const progressToken = tokenOf(context);
            const { signal } = context.mcpReq ?? context;
            for (let step = 1; step <= steps; step++) {
                await sleep(delay_ms, null, { signal });
                if (progressToken !== undefined)
                    await notify(context,
                        { progressToken, progress: step, total: steps });
            }
            return text(`${steps} steps`);
        });
}
