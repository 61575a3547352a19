import { randomUUID } from 'node:crypto';
import type { RunRecorder } from '../../src/core/chat/run-recorder.js';
import type { JsonValue } from '../../src/core/internal/json.js';
import { RECORDER_LAWS } from './recorder-laws.js';
import { TURN_LAWS } from './recorder-turn-laws.js';

/** Operations of a turn, which a recorder records. */
export type RecordedBody = (recorder: RunRecorder) => Promise<JsonValue>;

/** A recorder under test. */
export interface RecorderContract {
  readonly name: string;
  /** False for a recorder that keeps nothing. */
  readonly records: boolean;
  /** The way in which a turn waits for a decision. */
  readonly waits: 'for a value' | 'by a pause' | 'never';
  /** Runs an execution of a turn, with what the executions before it have recorded. */
  readonly run: (turnId: string, body: RecordedBody) => Promise<JsonValue>;
  /** Ends an execution whose body never ends, as the end of its process does. */
  readonly interrupt: (turnId: string) => Promise<void> | void;
}

/** A turn of a law. */
export interface Turn extends Pick<RecorderContract, 'records' | 'waits'> {
  /** Runs an execution up to the end of its body, and interrupts it. */
  readonly first: (body: (recorder: RunRecorder) => Promise<unknown>) => Promise<void>;
  readonly last: (body: RecordedBody) => Promise<JsonValue>;
}
export type Law = (turn: Turn) => Promise<void>;

/** Tests a recorder against the laws of {@link RunRecorder}. */
export function itBehavesLikeARunRecorder(contract: RecorderContract): void {
  const { name, records, waits, run, interrupt } = contract;
  describe(`${name} behaves like a recorder of a run`, () => {
    Object.entries({ ...RECORDER_LAWS, ...TURN_LAWS }).forEach(([title, law]) =>
      it(title, () => {
        const turnId = `law-${randomUUID()}`;
        const first: Turn['first'] = async (body) => {
          await new Promise<void>((resolve, reject) => {
            const whole: RecordedBody = async (recorder) => {
              await body(recorder).then(() => resolve(), reject);
              return new Promise<never>(() => undefined);
            };
            // an interrupted execution may end in any way
            run(turnId, whole).catch(() => undefined);
          });
          await interrupt(turnId);
        };
        return law({ first, last: (body) => run(turnId, body), records, waits });
      }),
    );
  });
}
