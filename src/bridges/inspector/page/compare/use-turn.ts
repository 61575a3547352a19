import { useEffect, useState } from 'preact/hooks';
import type { InspectedTurn } from '../../inspected-turn.js';
import { readTurn } from '../api.js';
import { summaries } from '../store.js';

/** Milliseconds between two readings of a turn that runs. */
const INTERVAL = 300;

/** A turn that is kept up to date while it is shown, and the problem of its last reading. */
export function useTurn(id: string): {
  readonly turn: InspectedTurn | undefined;
  readonly problem: string;
} {
  const [turn, setTurn] = useState<InspectedTurn>();
  const [problem, setProblem] = useState('');
  const revision = summaries.value.get(id)?.revision;
  const isFirst = turn?.id !== id;
  useEffect(() => {
    const reading = new AbortController();
    const read = (): void => {
      readTurn(id, reading.signal).then(
        (fresh) => {
          setTurn(fresh);
          setProblem('');
        },
        (error: Error) => {
          if (!reading.signal.aborted) setProblem(error.message);
        },
      );
    };
    const timer = setTimeout(read, isFirst ? 0 : INTERVAL);
    return () => {
      clearTimeout(timer);
      reading.abort();
    };
  }, [id, revision]);
  return { turn: isFirst ? undefined : turn, problem };
}
