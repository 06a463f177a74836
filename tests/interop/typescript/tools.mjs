/*
 * tools.mjs - the tools of the demo server, for a server of either version.
 *
 * Over HTTP, servers come and go with sessions and even with requests; what
 * outlives them is here. `hooks` hide in what the versions differ:
 * tokenOf(context), notify(context, params) to send a progress notification,
 * and unlocked(server), called when the list of tools has changed for all.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';

const text = (value) => ({ content: [{ type: 'text', text: String(value) }] });

let stopped = 0;
let open = false;

export function addVault(server) {
    server.registerTool('vault', { description: 'vault' },
        async () => text('dust'));
}

export function addTools(server, hooks) {
    const tool = (name, shape, run) => server.registerTool(
        name, { description: name, inputSchema: z.object(shape) }, run);

    tool('echo', { text: z.string() }, async (input) => text(input.text));
    tool('add', { a: z.number(), b: z.number() },
        async ({ a, b }) => text(a + b));
    tool('large', { bytes: z.number() },
        async ({ bytes }) => text('x'.repeat(bytes)));
    tool('fail', { message: z.string() },
        async ({ message }) => ({ ...text(message), isError: true }));
    tool('stopped', {}, async () => text(`${stopped} stopped`));

    tool('slow', { steps: z.number(), delay_ms: z.number() },
        async ({ steps, delay_ms }, context) => {
            const progressToken = hooks.tokenOf(context);
            const { signal } = context.mcpReq ?? context;
            for (let step = 1; step <= steps; step++) {
                await sleep(delay_ms, null, { signal })
                    .catch((abort) => { stopped++; throw abort; });
                if (progressToken !== undefined)
                    await hooks.notify(context,
                        { progressToken, progress: step, total: steps });
            }
            return text(`${steps} steps`);
        });

    tool('unlock', {}, async () => {
        if (!open)
            hooks.unlocked(server);
        open = true;
        return text('unlocked');
    });
    if (open)
        addVault(server);
}
