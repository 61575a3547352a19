import { ModelCallError } from '../../core/errors/errors.js';
import { describe } from '../../core/errors/describe.js';
import { isPlainObject, type JsonObject } from '../../core/internal/options.js';
import { listOf } from '../../core/json-schema/json-pointer.js';
import { camelCased } from './response.js';

type Values = Record<string | number, unknown>;

/** Deeper arguments are refused to protect the stack. */
const MAX_DEPTH = 100;
/** A step of a path, such as `.name`, `[0]` or `['name']`. */
const STEP = /\.([^.[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/y;
const VALUES = ['stringValue', 'numberValue', 'boolValue'];

/** The arguments of a streamed call, which arrive as values at JSON paths (RFC 9535). */
export class PartialArguments {
  private readonly root = container();

  /** @throws {@link ModelCallError} if a piece is at a path that cannot exist */
  add(pieces: unknown): void {
    for (const piece of listOf(pieces)) if (isPlainObject(piece)) this.addPiece(camelCased(piece));
  }

  /** The arguments as JSON text. */
  toText(): string {
    return JSON.stringify(this.root);
  }

  private addPiece(piece: JsonObject): void {
    const path = stepsOf(piece['jsonPath']);
    const last = path.pop();
    if (last === undefined) throw impossible(piece['jsonPath']);
    let values = this.root;
    for (const [at, step] of path.entries()) {
      const child = (values[checked(values, step)] ??= container(path[at + 1] ?? last));
      if (typeof child !== 'object' || child === null) throw impossible(piece['jsonPath']);
      values = child as Values;
    }
    const before = values[checked(values, last)];
    const name = VALUES.find((each) => piece[each] !== undefined && piece[each] !== null);
    const value = name === undefined ? null : piece[name];
    if (typeof value === 'string' && typeof before === 'string') values[last] = before + value;
    else if (name !== undefined || before === undefined) values[last] = value;
  }
}

/** An array for a step by number; without a prototype, since the model chooses the names. */
function container(step?: string | number): Values {
  return typeof step === 'number'
    ? ([] as unknown as Values)
    : (Object.create(null) as unknown as Values);
}

function stepsOf(path: unknown): (string | number)[] {
  if (typeof path !== 'string') throw impossible(path);
  const text = path.startsWith('$') ? path : `$.${path}`;
  const steps: (string | number)[] = [];
  STEP.lastIndex = 1;
  while (STEP.lastIndex < text.length) {
    const [found, name, index, single, double] = STEP.exec(text) ?? [];
    if (found === undefined || steps.length >= MAX_DEPTH) throw impossible(path);
    const quoted = (single ?? double)?.replaceAll(/\\(.)/g, '$1');
    steps.push(index === undefined ? (name ?? quoted ?? '') : Number(index));
  }
  return steps;
}

/** A step that its array or object can take; a gap in an array would fill the memory. */
function checked(values: Values, step: string | number): string | number {
  const fits = Array.isArray(values)
    ? typeof step === 'number' && step <= values.length
    : typeof step === 'string';
  if (!fits) throw impossible(step);
  return step;
}

function impossible(path: unknown): ModelCallError {
  return new ModelCallError(
    `The server sent an argument of a tool call at an impossible path: ${describe(path)}`,
  );
}
