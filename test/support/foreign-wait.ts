import type { PromptSpec } from '../../src/index.js';
import { ChatClient, ToolCallingAdvisor, ToolCallingManager } from '../../src/index.js';
import { ScriptedChatModel, type Script } from '../../src/testing/index.js';
import { runSpec, type Mode } from './modes.js';
import { deferred } from './promises.js';

/** A class of errors. */
type ErrorClass = abstract new (...args: never) => Error;

/** Time limits of a turn in milliseconds; those that are absent have their defaults. */
export interface Limits {
  /** Of a model: until the answer, until its first piece, or between two pieces. */
  readonly timeout?: number;
  readonly maxDuration?: number;
  readonly toolTimeout?: number;
  readonly providerTimeout?: number;
}

type Way = <T>(value: T, signal: AbortSignal) => Promise<T>;

const never = <T>(): Promise<T> => new Promise(() => undefined);

function onceAborted(signal: AbortSignal, callback: () => void): void {
  if (signal.aborted) callback();
  else signal.addEventListener('abort', callback, { once: true });
}

/** Ways of foreign code: the first one knows no signal. */
export const WAYS: Readonly<Record<string, Way>> = {
  'never settles': never,
  'returns when it is aborted': (value, signal) =>
    new Promise((resolve) => onceAborted(signal, () => resolve(value))),
  'fails when it is aborted': (_, signal) =>
    new Promise((_resolve, reject) => onceAborted(signal, () => reject(new Error('foreign')))),
};

/** Foreign code for which a turn waits. */
export class ForeignWait {
  private readonly begun = deferred();
  private readonly ended = deferred();
  private readonly controller = new AbortController();

  constructor(private readonly way: Way) {}

  /** The signal of the turn. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Resolves when the foreign code runs. */
  get entered(): Promise<void> {
    return this.begun.promise;
  }

  /**
   * Runs as the foreign code.
   * @param signal signal of the code, if it has one of its own
   */
  enter<T>(value: T, signal: AbortSignal = this.signal): Promise<T> {
    this.begun.resolve();
    return Promise.race([this.way(value, signal), this.ended.promise.then(() => value)]);
  }

  abort(reason: unknown): void {
    this.controller.abort(reason);
  }

  /** Lets the foreign code return in any case, after the turn. */
  release(): void {
    this.ended.resolve();
  }
}

/** A turn with a wait in it. */
export interface Scene {
  readonly mode: Mode;
  readonly wait: ForeignWait;
  readonly limits: Limits;
}

/** A wait of the library for foreign code. */
export interface WaitRow {
  readonly title: string;
  /** Runs a turn until it ends. */
  readonly run: (scene: Scene) => Promise<unknown>;
  /** Limits that end the wait, with the class of their error. @default none */
  readonly limits?: Readonly<Partial<Record<keyof Limits, ErrorClass>>>;
  /** True if the library itself waits, so that there is one way. */
  readonly own?: true;
  /** True if foreign code keeps a timer of its own until it settles. */
  readonly keepsTimer?: true;
}

type ManagerOptions = ConstructorParameters<typeof ToolCallingManager>[0];

/** Runs a scripted turn with the limits of a scene. */
export function runScript(
  scene: Scene,
  script: Script,
  build: (spec: PromptSpec) => PromptSpec,
  options: ManagerOptions = {},
): Promise<unknown> {
  return runSpec(scene.mode, specOf(scene, script, build, options));
}

/** The request of {@link runScript}. */
export function specOf(
  { wait, limits }: Scene,
  script: Script,
  build: (spec: PromptSpec) => PromptSpec,
  options: ManagerOptions = {},
): PromptSpec {
  const { toolTimeout, maxDuration } = limits;
  const manager = new ToolCallingManager({ toolTimeout, onToolError: 'throw', ...options });
  const loop = new ToolCallingAdvisor({ manager, maxDuration });
  const spec = ChatClient.create(new ScriptedChatModel(script)).prompt('?').advisors(loop);
  return build(spec).signal(wait.signal);
}
