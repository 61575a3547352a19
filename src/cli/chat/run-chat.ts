import type { Writable } from 'node:stream';
import { text as readText } from 'node:stream/consumers';
import { EXIT } from '../command.js';
import { hasColour, type Terminal } from '../terminal.js';
import { UsageError } from '../usage-error.js';
import type { ChatSettings } from './chat-settings.js';
import { LineEditor, type Line } from './line-editor.js';
import type { KeySource } from './key-stream.js';
import { Closers, openChat, type OpenChat } from './open-chat.js';
import { Screen } from './screen.js';

/** Runs a chat until its end; returns the exit code. */
export async function runChat(settings: ChatSettings, terminal: Terminal): Promise<number> {
  const closers = new Closers();
  const screen = screenOf(terminal);
  try {
    return settings.isInteractive
      ? await chatInTerminal(settings, terminal, screen, closers)
      : await answerInput(settings, terminal, screen, closers);
  } finally {
    await closers.close();
  }
}

/** Answers the whole input as one question. */
async function answerInput(
  settings: ChatSettings,
  terminal: Terminal,
  screen: Screen,
  closers: Closers,
): Promise<number> {
  const question = (await readText(terminal.input)).trim();
  if (question === '') throw new UsageError('there is no question on standard input');
  const chat = await openChat(settings, terminal, screen, undefined, closers);
  chat.summary.forEach((line) => screen.note(line));
  onAbort(terminal.signal, () => chat.session.cancelTurn());
  const { outcome } = await chat.session.ask(question);
  return outcome === 'answered' ? EXIT.ok : EXIT.failed;
}

async function chatInTerminal(
  settings: ChatSettings,
  terminal: Terminal,
  screen: Screen,
  closers: Closers,
): Promise<number> {
  let editor: LineEditor | undefined;
  const askLine = async (prompt: string, signal: AbortSignal): Promise<Line> => {
    const cancel = (): void => editor?.cancel();
    const reading = editor?.read(prompt, { isMultiLine: false }) ?? { type: 'end' as const };
    signal.addEventListener('abort', cancel);
    try {
      return await reading;
    } finally {
      signal.removeEventListener('abort', cancel); // another line is read next
    }
  };
  const chat = await openChat(settings, terminal, screen, askLine, closers);
  return await new Promise<number>((resolve, reject) => {
    const leave = (): void => resolve(EXIT.interrupted);
    const interrupt = (): void => {
      if (!chat.session.interrupt()) leave();
    };
    const { input } = terminal;
    editor = new LineEditor({
      input: input as KeySource,
      output: promptsOf(terminal),
      onInterrupt: interrupt,
    });
    closers.add(async () => editor?.close());
    onAbort(terminal.signal, () => (chat.session.cancelTurn(), leave()));
    greet(chat, screen);
    chat.session.run(editor).then(resolve, reject);
  });
}

function greet({ session, summary }: OpenChat, screen: Screen): void {
  screen.note(`model ${session.model}`);
  for (const line of summary) screen.note(line);
  for (const warning of session.client.explain().warnings) screen.note(warning, 'yellow');
  screen.note('/help shows the commands');
}

function onAbort(signal: AbortSignal, callback: () => void): void {
  if (signal.aborted) callback();
  else signal.addEventListener('abort', callback, { once: true });
}

/** Answers go to standard output; all else to the terminal, which that may be, too. */
function screenOf(terminal: Terminal): Screen {
  const isLive = terminal.output.isTTY === true;
  const notes = isLive ? terminal.output : terminal.errors;
  return new Screen({
    output: terminal.output,
    notes,
    isLive,
    canErase: isLive && terminal.env['TERM'] !== 'dumb',
    hasColors: hasColour(notes, terminal.env),
  });
}

/** The terminal of the prompts. */
function promptsOf({ output, errors }: Terminal): Writable {
  return (output.isTTY ? output : errors) as Writable;
}
