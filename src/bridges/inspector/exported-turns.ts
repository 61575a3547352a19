import { InvalidArgumentError } from '../../core/errors/errors.js';
import { parseJson, type JsonValue } from '../../core/internal/json.js';
import { isPlainObject } from '../../core/internal/options.js';
import type { AdvisorState, ExportedTurns, InspectedTurn } from './inspected-turn.js';

/** A turn of a file, with the states of its advisors. */
export interface ReadTurn {
  readonly turn: InspectedTurn;
  readonly states: readonly AdvisorState[];
  readonly bytes: number;
}

/**
 * Reads a file with turns.
 * @param maxBytes maximum length of its text
 * @throws {@link InvalidArgumentError} if it is no such file
 */
export function readExport(file: unknown, maxBytes: number): readonly ReadTurn[] {
  const text = typeof file === 'string' ? file : JSON.stringify(file);
  if (text === undefined || 2 * text.length > maxBytes)
    throw invalid(`is larger than the ${maxBytes} bytes that are kept`);
  const data = parse(text);
  if (!isPlainObject(data) || data['format'] !== 'advisor-chain/turns')
    throw invalid('has no `format: "advisor-chain/turns"`');
  if (data['version'] !== 1) throw invalid(`has another version than 1`);
  const { turns, states } = data as unknown as ExportedTurns;
  if (!Array.isArray(turns)) throw invalid('has no list of turns');
  return turns.map((turn: InspectedTurn) => ({
    turn,
    states: states?.[turn.id] ?? [],
    bytes: 2 * JSON.stringify(turn).length,
  }));
}

function parse(text: string): JsonValue {
  try {
    return parseJson(text);
  } catch (error) {
    throw invalid(`is no JSON: ${(error as Error).message}`);
  }
}

function invalid(problem: string): InvalidArgumentError {
  return new InvalidArgumentError(`Inspector: the file with turns ${problem}`);
}
