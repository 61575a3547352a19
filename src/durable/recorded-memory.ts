import type { ChatClientRequest } from '../advisor/chat-client-request.js';
import type { Message } from '../chat/message.js';
import type { RunRecord } from '../chat/run-record.js';
import { hasCode } from '../errors/advisor-chain-error.js';
import { sha256Hex } from '../internal/text.js';
import { CONVERSATION_ID } from '../memory/chat-memory-repository.js';
import type {
  AddOptions,
  ChatMemory,
  LoadOptions,
  MemorySnapshot,
  RunningTurn,
} from '../memory/chat-memory.js';
import { decodeMessage, encodeMessage } from '../memory/message-codec.js';
import { DurableRun } from './durable-run.js';
import { ledgerSince, replayLedger, type EncodedCalls } from './ledger-codec.js';

/** The parts of a memory that a turn uses. */
export type TurnMemory = Pick<ChatMemory, 'load' | 'add'>;

/** The memory of a turn; its reads and writes are steps if the turn is durable. */
export function memoryOfTurn(memory: ChatMemory, { run, turnId }: ChatClientRequest): TurnMemory {
  const durable = DurableRun.of(run);
  return durable ? new RecordedMemory(memory, durable, run, turnId) : memory;
}

/**
 * True for the end of a run whose turn may go on: it is paused, or it is durable, and its process
 * ends or has lost it. Its partial answer must not be stored beside the whole one.
 */
export function mayGoOn(run: RunRecord, reason: unknown): boolean {
  if (hasCode(reason, 'turn_paused')) return true;
  return DurableRun.of(run) !== undefined && hasCode(reason, 'cancelled');
}

/**
 * A turn that runs again gets the conversation that it had read: neither its own messages nor those
 * of other turns that were stored since. It stores once.
 */
class RecordedMemory implements TurnMemory {
  constructor(
    private readonly memory: ChatMemory,
    private readonly durable: DurableRun,
    private readonly run: RunRecord,
    private readonly turnId: string,
  ) {}

  async load(
    conversationId: string,
    running?: RunningTurn,
    options?: LoadOptions,
  ): Promise<MemorySnapshot> {
    const { durable, memory, run } = this;
    let live: MemorySnapshot | undefined;
    const from = run.ledger.length;
    const { version, texts, calls } = await durable.step('memory read', async () => {
      live = await memory.load(conversationId, running, options);
      return {
        version: live.version,
        texts: live.messages.map(encodeMessage),
        ...ledgerSince(run.ledger, from),
      };
    });
    if (live) return live;
    replayLedger(run, calls);
    return { version, messages: texts.map(decodeMessage) };
  }

  async add(
    conversationId: string,
    messages: Message | readonly Message[],
    options: AddOptions = {},
  ): Promise<number> {
    const { durable, memory, run } = this;
    const name = durable.nameOf('memory write');
    // the id by which the store knows the write, if it was made and not recorded
    const { writeId = this.writeIdOf(name) } = options;
    const from = run.ledger.length;
    let isLive = false;
    const { version, calls } = await durable.stepOf<Stored>(name, async () => {
      isLive = true;
      const added = await memory.add(conversationId, messages, { ...options, writeId });
      return { version: added, ...ledgerSince(run.ledger, from) };
    });
    if (!isLive) replayLedger(run, calls);
    return version;
  }

  private writeIdOf(stepName: string): string {
    const id = `${this.turnId} ${stepName}`;
    return CONVERSATION_ID.accepts(id) ? id : sha256Hex(id);
  }
}

type Stored = { readonly version: number; readonly calls?: EncodedCalls };
