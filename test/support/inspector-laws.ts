import { isDeepStrictEqual } from 'node:util';
import fc, { type Arbitrary } from 'fast-check';
import type {
  ExportedTurns,
  InspectedTurn,
  Inspector,
  TimelineEntry,
} from '../../src/bridges/inspector/index.js';
import { newInspector } from './inspected-turns.js';

/** An inspector in a sweep. */
export interface Inspection {
  readonly order: number;
  /** True if all that it has recorded is checked, which takes as long as some turns. */
  readonly isRead: boolean;
}

const inspection: Arbitrary<Inspection> = fc.record({
  // outside of all advisors, between them, and next to the model
  order: fc.constantFrom(100, 1_200, 3_001, 4_999, 5_001, 6_500, 9_000),
  isRead: fc.nat(7).map((n) => n === 0),
});
/** An inspector in a quarter of the cases. */
export const anyInspection: Arbitrary<Inspection | undefined> = fc.oneof(
  { weight: 3, arbitrary: fc.constant(undefined) },
  inspection,
);

/** The inspector of a case. */
export function inspectorOf(given: Inspection | undefined): Inspector | undefined {
  return given && newInspector({ order: given.order });
}

/** Problems of what the inspector of a case has recorded. */
export async function problemsOfInspection(
  inspector: Inspector | undefined,
  given: Inspection | undefined,
): Promise<readonly string[]> {
  if (!inspector) return [];
  if (given?.isRead) return problemsOfTurns(inspector);
  const running = inspector.turns().filter(({ outcome }) => outcome === 'running');
  return running.map(({ id }) => `the turn ${id} has no end`);
}

/** Problems of what an inspector has recorded, in words; its turns must be over. */
export async function problemsOfTurns(inspector: Inspector): Promise<readonly string[]> {
  const file = await inspector.export();
  const problems = file.turns.flatMap((turn) => [
    ...ofEnd(turn),
    ...ofAuthors(turn),
    ...ofTimeline(turn),
  ]);
  return [...problems, ...ofBounds(inspector, file), ...ofExport(file)];
}

function ofEnd({ outcome, duration, timeline }: InspectedTurn): readonly string[] {
  if (outcome === 'running' || duration === undefined) return [`a turn is ${outcome}`];
  return timeline
    .filter(({ end }) => end === undefined)
    .map(({ kind, name }) => `${kind} ${name} of an ${outcome} turn has no end`);
}

/** Each change of a request has an author of its chain. */
function ofAuthors({ chain, requests }: InspectedTurn): readonly string[] {
  const names = new Set(['application', 'model', ...chain.advisors.map(({ name }) => name)]);
  return requests.flatMap(({ steps, sincePrevious = [] }) =>
    [...steps, ...sincePrevious]
      .filter(({ advisor }) => !names.has(advisor))
      .map(({ advisor }) => `a change is by ${advisor}, which is not in the chain`),
  );
}

function ofTimeline({ timeline, requests }: InspectedTurn): readonly string[] {
  const byId = new Map<number, TimelineEntry>(timeline.map((entry) => [entry.id, entry]));
  return [
    ...(byId.size === timeline.length ? [] : ['two entries have the same id']),
    ...timeline.flatMap(({ id, kind, parent, start, end = start }) => [
      ...(parent === undefined || byId.has(parent)
        ? []
        : [`${kind} ${id} has no parent ${parent}`]),
      ...(start <= end ? [] : [`${kind} ${id} ends before it begins`]),
    ]),
    ...requests
      .filter(({ entry }) => byId.get(entry)?.kind !== 'model-call')
      .map(({ entry }) => `a request belongs to ${byId.get(entry)?.kind} ${entry}`),
  ];
}

function ofBounds(inspector: Inspector, { turns: all }: ExportedTurns): readonly string[] {
  const { turns, maxTurns, bytes, maxBytes } = inspector.kept();
  return [
    ...(turns === all.length ? [] : [`${turns} turns are counted of ${all.length}`]),
    ...(turns <= maxTurns ? [] : [`${turns} turns are kept of ${maxTurns}`]),
    ...(bytes <= maxBytes || turns === 1 ? [] : [`${bytes} bytes are kept of ${maxBytes}`]),
  ];
}

/** An exported turn looks the same in another inspector, which lets go of it as a whole. */
function ofExport(file: ExportedTurns): readonly string[] {
  const other = newInspector();
  const ids = other.import(JSON.stringify(file));
  const problems = file.turns.flatMap((turn, at) => {
    const id = ids[at] ?? '';
    const opened = other.turn(id);
    const expected = { ...turn, id, source: 'file', isLive: false };
    return isDeepStrictEqual(opened, expected)
      ? []
      : [`an exported turn differs: ${firstDifference(opened, expected)}`];
  });
  other.clear();
  const { bytes, turns } = other.kept();
  return [...problems, ...(bytes + turns === 0 ? [] : [`${bytes} bytes are left after clear()`])];
}

function firstDifference(one: unknown, other: unknown, path = ''): string {
  if (typeof one === 'object' && typeof other === 'object' && one && other)
    for (const key of new Set([...Object.keys(one), ...Object.keys(other)])) {
      const [a, b] = [one, other].map((each) => (each as Record<string, unknown>)[key]);
      if (!isDeepStrictEqual(a, b)) return firstDifference(a, b, `${path}/${key}`);
    }
  return `${path}: ${JSON.stringify(one)} <> ${JSON.stringify(other)}`;
}
