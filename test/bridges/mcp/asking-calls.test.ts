import { expect } from 'chai';
import {
  ApprovalAdvisor,
  ChatClient,
  type Decision,
  type PendingRequest,
} from '../../../src/index.js';
import { mcpTools, type McpTools } from '../../../src/bridges/mcp/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { listed, RawMcpServer } from '../../support/mcp.js';
import { failureOf, RUNS, type Run } from '../../support/modes.js';

const question = (id: number, to: unknown): object => ({
  id,
  method: 'elicitation/create',
  params: {
    message: `Pay ${String(to)}?`,
    requestedSchema: { type: 'object', properties: { code: { type: 'string' } } },
  },
});

/** A bank that asks when the test wants it, on the connection of the call. */
class Bank extends RawMcpServer {
  /** Ends the call of a payee by the result "paid". */
  readonly pay = new Map<unknown, () => void>();

  constructor() {
    super({
      'tools/list': () => ({
        tools: [listed('pay'), listed('look', { annotations: { readOnlyHint: true } })],
      }),
      'tools/call': ({ name, arguments: args }) => {
        const done = { content: [{ type: 'text', text: 'done' }] };
        const { to } = args as { readonly to?: unknown };
        if (name === 'look') return done;
        return new Promise((resolve) => this.pay.set(to, () => resolve(done)));
      },
    });
  }

  async hasCallOf(to: string): Promise<void> {
    while (!this.pay.has(to)) await new Promise(setImmediate);
  }

  /** The actions with which questions were answered. */
  get actions(): readonly unknown[] {
    return this.received.flatMap((message) => {
      const { result } = message as { readonly result?: { readonly action?: unknown } };
      return result?.action === undefined ? [] : [result.action];
    });
  }
}

const allow: Decision = { type: 'allow' };

describe('the questions of an MCP server with several users', () => {
  let bank: Bank;
  let mcp: McpTools;
  let shown: string[];

  beforeEach(() => {
    bank = new Bank();
    shown = [];
  });

  afterEach(() => mcp.close());

  function open(toolTimeout?: number): void {
    const server = { transport: bank.transport, onElicitation: 'ask', toolTimeout } as const;
    mcp = mcpTools({ servers: { bank: server } });
  }

  /** A turn of a user whose model calls one tool. */
  function turn(
    run: Run,
    user: string,
    call: { readonly name: string; readonly to?: string },
    { answer, signal }: { readonly answer?: Promise<Decision>; readonly signal?: AbortSignal } = {},
  ): Promise<string | null> {
    const decide = (request: PendingRequest): Decision | Promise<Decision> => {
      if (request.type === 'approval') return allow;
      shown.push(`${user}: ${request.prompt}`);
      return answer ?? { type: 'answer', value: { code: user } };
    };
    const toolCalls = [{ name: call.name, arguments: { to: call.to } }];
    const client = ChatClient.builder(new ScriptedChatModel([{ toolCalls }, 'Done.']))
      .defaultAdvisors(new ApprovalAdvisor({ decide }))
      .build();
    const spec = client.prompt('?').tools(mcp);
    return run(signal ? spec.signal(signal) : spec);
  }

  /** Asks on a connection, which may have ended. */
  const ask = (connection: number, id: number, to: string): Promise<void> | undefined =>
    bank.connections[connection]
      ?.send({ jsonrpc: '2.0', ...question(id, to) } as never)
      .catch(() => undefined);

  /** Begins a payment of Anna, and ends her turn. */
  async function endedPayment(run: Run, end: 'cancelled' | 'timed out' | 'answered') {
    const abort = new AbortController();
    const call = { name: 'bank_pay', to: 'landlord' };
    const ended = failureOf(turn(run, 'anna', call, { signal: abort.signal }));
    await bank.hasCallOf('landlord');
    if (end === 'cancelled') abort.abort();
    if (end === 'answered') bank.pay.get('landlord')?.();
    await ended;
  }

  for (const [mode, run] of RUNS) {
    for (const end of ['cancelled', 'timed out', 'answered'] as const)
      it(`[D78] of a call that was ${end} reach no other user, ${mode}`, async () => {
        open(end === 'timed out' ? 1_000 : undefined);
        await endedPayment(run, end);
        const bob = turn(run, 'bob', { name: 'bank_pay', to: 'grocer' });
        await bank.hasCallOf('grocer');

        for (const connection of [0, 1]) await ask(connection, 100, 'landlord');
        await ask(2, 101, 'grocer');
        while (shown.length === 0) await new Promise(setImmediate);
        bank.pay.get('grocer')?.();
        await bob;

        expect(shown).to.deep.equal(['bob: The server "bank" asks: Pay grocer?']);
        expect(bank.connections).to.have.length(3);
        expect(bank.actions).to.include('decline').and.not.include('cancel');
      });

    it(`[D97] without an answer hold up no other call, ${mode}`, async () => {
      open();
      const abort = new AbortController();
      const answer = new Promise<Decision>(() => undefined);
      const call = { name: 'bank_pay', to: 'landlord' };
      const anna = failureOf(turn(run, 'anna', call, { answer, signal: abort.signal }));
      await bank.hasCallOf('landlord');
      await ask(1, 100, 'landlord');

      const others = ['bob', 'eve'].map((user) => turn(run, user, { name: 'bank_look' }));

      expect(await Promise.all(others)).to.deep.equal(['Done.', 'Done.']);
      abort.abort();
      expect(await anna).to.have.property('code', 'cancelled');
    });
  }
});
