import { randomUUID } from 'node:crypto';
import type { ChatClient } from '../../core/client/chat-client.js';
import { EXIT } from '../command.js';
import { errorLine } from '../error-line.js';
import type { ChatHistory } from './chat-history.js';
import type { FinishedTurn } from './finished-turn.js';
import type { LineEditor } from './line-editor.js';
import type { Screen } from './screen.js';
import type { SessionRecorder } from './session-recorder.js';
import { runSlashCommand } from './slash-commands.js';
import type { TerminalDecisions } from './terminal-decisions.js';
import { runTurn } from './turn-runner.js';

/** A client, with the name of its model. */
export interface NamedClient {
  readonly client: ChatClient;
  readonly name: string;
}

/** The parts of a session. */
export interface SessionParts {
  readonly screen: Screen;
  readonly decisions: TerminalDecisions;
  /** The client of a model; of the first one without a name. */
  readonly clientOf: (model?: string) => Promise<NamedClient>;
  /** Undefined if the client of a module has a memory of its own. */
  readonly history: ChatHistory | undefined;
  readonly conversationId: string;
  readonly recorder: SessionRecorder;
  readonly cwd: string;
}

const PROMPT = '> ';

/** A chat: turns of one conversation, and the commands between them. */
export class ChatSession {
  readonly turns: FinishedTurn[] = [];
  private running: AbortController | undefined;
  private isLeaving = false;
  /** Of the prompt, one after another. */
  private interrupts = 0;
  /** Of what runs now. */
  private ignored = 0;

  private constructor(
    readonly parts: SessionParts,
    private current: NamedClient,
  ) {}

  static async start(parts: SessionParts): Promise<ChatSession> {
    return new ChatSession(parts, await parts.clientOf());
  }

  get client(): ChatClient {
    return this.current.client;
  }

  /** Name of the model that answers. */
  get model(): string {
    return this.current.name;
  }

  /** True while a turn runs. */
  get isRunning(): boolean {
    return this.running !== undefined;
  }

  /** Continues with another model. */
  async useModel(name: string): Promise<void> {
    this.current = await this.parts.clientOf(name);
  }

  /** Ends the session after the command that runs. */
  leave(): void {
    this.isLeaving = true;
  }

  /** Cancels the turn that runs; false if there is none, or it was cancelled before. */
  cancelTurn(): boolean {
    if (!this.running || this.running.signal.aborted) return false;
    this.running.abort();
    return true;
  }

  /** Ctrl-C while no line is read. False if the chat has to end: a command or a tool ignores it. */
  interrupt(): boolean {
    if (this.cancelTurn()) return true;
    this.ignored++;
    return this.running === undefined && this.ignored === 1;
  }

  /** Asks a question and shows the answer. */
  async ask(question: string): Promise<FinishedTurn> {
    const { screen, decisions, conversationId, recorder } = this.parts;
    const running = new AbortController();
    this.running = running;
    if (this.ignored > 0) running.abort(); // right behind the Enter key
    recorder.beginTurn();
    try {
      const { client, model } = this;
      // the id of the turn keeps turns apart that a memory has stored
      const request = client.prompt(question).conversation(conversationId).turnId(randomUUID());
      const resume: typeof client.resume = (state, decided) => client.resume(state, decided);
      const { signal } = running;
      const turn = await runTurn({ question, model, request, resume, signal }, screen, decisions);
      this.turns.push(turn);
      return turn;
    } finally {
      this.running = undefined;
    }
  }

  /** Reads questions and commands until the end; returns the exit code. */
  async run(editor: LineEditor): Promise<number> {
    const { screen } = this.parts;
    while (!this.isLeaving) {
      screen.endLine();
      this.ignored = 0;
      const line = await editor.read(screen.style('bold', PROMPT), { isMultiLine: true });
      if (line.type === 'end') return EXIT.ok;
      if (line.type === 'interrupt' && this.isSecondInterrupt()) return EXIT.interrupted;
      if (line.type === 'line') await this.handle(line.text.trim());
    }
    return EXIT.ok;
  }

  private isSecondInterrupt(): boolean {
    this.interrupts++;
    if (this.interrupts === 1)
      this.parts.screen.note('Ctrl-C again ends the chat, and so does Ctrl-D.');
    return this.interrupts > 1;
  }

  private async handle(text: string): Promise<void> {
    this.interrupts = 0;
    if (text === '') return;
    // two slashes begin a question that begins with one
    if (!text.startsWith('/') || text.startsWith('//')) {
      await this.ask(text.replace(/^\/\//, '/'));
      return;
    }
    try {
      await runSlashCommand(this, text);
    } catch (error) {
      this.parts.screen.note(`Error: ${errorLine(error)}`, 'red');
    }
  }
}
