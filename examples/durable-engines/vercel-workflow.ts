import { createHook, FatalError, sleep } from 'workflow';
import { resumeHook } from 'workflow/api';
import { runTurn, type Journal, type Outcome, type Wait } from './journal.js';

type Value = Parameters<Journal['write']>[1];
type Sent = { readonly name: string; readonly value: Value };

/** Keeps the values of a turn. A decision is sent by `resumeHook(turnId, { name: requestId, value: decision })`. */
export async function turn(turnId: string, question: string): Promise<string | null> {
  'use workflow';
  const values: Record<string, Value> = {};
  const waiting = new Set<string>();
  let changed = (): void => undefined;
  const keep = ({ name, value }: Sent): void => {
    if (!(name in values)) values[name] = value;
    changed();
  };
  const receive = async (): Promise<void> => {
    for await (const sent of createHook<Sent>({ token: turnId })) keep(sent);
  };
  const timer = async ({ name, timeout }: Wait): Promise<void> => {
    if (timeout === undefined || waiting.has(name)) return;
    waiting.add(name);
    await sleep(timeout);
    keep({ name, value: null });
  };
  void receive();
  for (;;) {
    // an attempt whose process is lost rejects; the next one has the values that it has sent
    const outcome = await attempt(turnId, question, values).catch((): Outcome => ({ waits: [] }));
    if ('answer' in outcome) return outcome.answer;
    if ('error' in outcome) throw new FatalError(outcome.error);
    for (const wait of outcome.waits) void timer(wait);
    while (outcome.waits.length > 0 && !outcome.waits.some(({ name }) => name in values))
      await new Promise<void>((resolve) => (changed = resolve));
  }
}

async function attempt(turnId: string, question: string, values: Record<string, Value>) {
  'use step';
  const journal: Journal = {
    read: async (name) => (name in values ? { value: values[name] ?? null } : undefined),
    write: async (name, value) => void (await resumeHook(turnId, { name, value })),
  };
  return runTurn(journal, process.env['SERVER'] ?? '', question);
}
attempt.maxRetries = 0;
