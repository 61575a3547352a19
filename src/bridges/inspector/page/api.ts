import type { Decisions } from '../../../core/chat/paused-turn.js';
import type { AdvisorState, InspectedTurn } from '../inspected-turn.js';
import type { InspectorEvent, TurnToTry } from '../page-messages.js';

/** A request that the server has refused, or that has not reached it. */
export class ApiError extends Error {
  constructor(
    /** 0 without an answer. */
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** The address of something of the server: beside the page, without its query and hash. */
const address = (path: string): string => new URL(`api/${path}`, document.baseURI).href;
const turnPath = (id: string, rest = ''): string => `turns/${encodeURIComponent(id)}${rest}`;

async function send(path: string, init: RequestInit = {}): Promise<unknown> {
  const response = await fetch(address(path), { credentials: 'same-origin', ...init }).catch(
    (error: unknown) => {
      if (init.signal?.aborted) throw error;
      throw new ApiError(0, 'The process of the inspector does not answer. Is it running?');
    },
  );
  const text = await response.text();
  if (!response.ok) throw new ApiError(response.status, problemOf(text, response.status));
  return text === '' ? undefined : (JSON.parse(text) as unknown);
}

/** The sentence of a refused request: `{ error: { message } }`, `{ error }`, `{ message }` or plain text. */
function problemOf(text: string, status: number): string {
  let value: unknown = text;
  try {
    value = JSON.parse(text);
  } catch {
    // plain text
  }
  for (const key of ['error', 'message'])
    if (typeof value === 'object' && value !== null && key in value)
      value = (value as Record<string, unknown>)[key];
  return typeof value === 'string' && value !== ''
    ? value
    : `The inspector answered with status ${status}.`;
}

const post = (path: string, body: unknown): Promise<unknown> =>
  send(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

/** Reads a turn as a whole. */
export async function readTurn(id: string, signal?: AbortSignal): Promise<InspectedTurn> {
  return (await send(turnPath(id), signal ? { signal } : {})) as InspectedTurn;
}

/** Reads the states of the advisors of a turn. */
export async function readStates(id: string): Promise<readonly AdvisorState[]> {
  return (await send(turnPath(id, '/states'))) as readonly AdvisorState[];
}

/** Address of the file with a turn. */
export const exportAddress = (id: string): string => address(turnPath(id, '/export'));

/** Opens the text of a file of {@link ExportedTurns}. */
export const importTurns = (text: string): Promise<unknown> => post('import', text);

/** Starts a turn; its id. */
export async function tryTurn(turn: TurnToTry): Promise<string> {
  return ((await post('try', turn)) as { id: string }).id;
}

/** Resumes a turn that waits; id of the resumed turn. */
export async function decide(id: string, decisions: Decisions): Promise<string> {
  return ((await post(turnPath(id, '/decisions'), decisions)) as { id: string }).id;
}

export const cancelTurn = (id: string): Promise<unknown> => post(turnPath(id, '/cancel'), {});
export const removeTurns = (): Promise<unknown> => send('turns', { method: 'DELETE' });

/** `refused`: the process answers, but the page has no access, as after a start with another token. */
export type Connection = 'connecting' | 'open' | 'lost' | 'refused';

const FIRST_DELAY = 500;
const MAX_DELAY = 10_000;

/** An event source has no status: another request finds out. */
async function problemOfConnection(): Promise<Connection> {
  const answer = await fetch(address('turns/'), { credentials: 'same-origin' }).catch(() => null);
  return answer?.status === 401 || answer?.status === 403 ? 'refused' : 'lost';
}

/** Follows the events of the inspector, and connects again as long as the page is open. */
export function followEvents(
  onEvent: (event: InspectorEvent) => void,
  onConnection: (connection: Connection) => void,
): void {
  let delay = FIRST_DELAY;
  const connect = (): void => {
    const source = new EventSource(address('events'));
    source.onopen = () => {
      delay = FIRST_DELAY;
      onConnection('open');
    };
    source.onmessage = ({ data }: MessageEvent<string>) =>
      onEvent(JSON.parse(data) as InspectorEvent);
    // The browser gives up after an answer with an error status.
    source.onerror = () => {
      source.close();
      void problemOfConnection().then(onConnection);
      setTimeout(connect, delay);
      delay = Math.min(delay * 2, MAX_DELAY);
    };
  };
  onConnection('connecting');
  connect();
}
