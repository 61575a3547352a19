import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { InspectedChain, InspectedTurn } from '../inspected-turn.js';
import { type Box, BOX_HEIGHT, type Drawing, drawChain } from './chain-layout.js';
import { ChainDetail } from './chain-detail.js';
import { type Activity, activityOf } from './chain-activity.js';
import { plural } from './parts/format.js';

const PLACES: Readonly<Record<Box['kind'], string>> = {
  turn: 'once per turn',
  loop: 'the tool loop',
  iteration: 'once per iteration',
  tool: 'around tool calls',
  model: 'the model',
  tools: 'the tools',
};
const MIN_WIDTH = 260;

/** The chain of a turn or of the client, drawn; a box shows its options when it is chosen. */
export function ChainView({
  chain,
  turn,
}: {
  readonly chain: InspectedChain;
  readonly turn?: InspectedTurn;
}): JSX.Element {
  const [holder, width] = useWidth();
  const [chosen, setChosen] = useState<string | undefined>(undefined);
  const drawing = useMemo(() => drawChain(chain, width, measure), [chain, width]);
  const activity = activityOf(chain, turn);
  const choose = (key: string): void => setChosen(key === chosen ? undefined : key);
  return (
    <section class="chain" aria-labelledby="chain-title">
      <div class="section-head">
        <h2 id="chain-title">Chain</h2>
        <span class="muted">
          {plural(chain.advisors.length, 'advisor')}. Choose one to see its options.
        </span>
      </div>
      <div class="chain-holder" ref={holder}>
        <svg
          width={width}
          height={drawing.height}
          viewBox={`0 0 ${width} ${drawing.height}`}
          role="group"
          aria-label="The advisors in order"
        >
          <Lines drawing={drawing} isRunning={activity.active.size > 0} />
          {drawing.boxes.map((each) => (
            <AdvisorBox
              key={`${each.kind} ${each.key}`}
              box={each}
              activity={activity}
              isChosen={each.key === chosen}
              choose={choose}
            />
          ))}
        </svg>
      </div>
      {chain.warnings.length > 0 && <Warnings warnings={chain.warnings} />}
      {chosen !== undefined && (
        <ChainDetail chain={chain} chosen={chosen} close={() => setChosen(undefined)} />
      )}
    </section>
  );
}

function Warnings({ warnings }: { readonly warnings: readonly string[] }): JSX.Element {
  return (
    <ul class="warnings" aria-label="Warnings">
      {warnings.map((warning) => (
        <li key={warning}>
          <bdi>{warning}</bdi>
        </li>
      ))}
    </ul>
  );
}

/** The present width of an element. */
function useWidth() {
  const holder = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(800);
  useEffect(() => {
    const element = holder.current;
    if (!element) return undefined;
    const measure = (): void => setWidth(Math.max(MIN_WIDTH, Math.floor(element.clientWidth)));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [holder, width] as const;
}

function Lines({
  drawing,
  isRunning,
}: {
  readonly drawing: Drawing;
  readonly isRunning: boolean;
}): JSX.Element {
  const { frames, arrows, captions, loopBack } = drawing;
  return (
    <g aria-hidden="true">
      <defs>
        <marker
          id="head"
          viewBox="0 0 8 8"
          refX="5"
          refY="4"
          markerWidth="7"
          markerHeight="7"
          orient="auto"
        >
          <path class="arrow-head" d="M0 0.5L7 4L0 7.5z" />
        </marker>
      </defs>
      {frames.map(({ x, y, width, height, isLoop }) => (
        <rect
          key={`${x} ${y}`}
          class={isLoop ? 'frame loop' : 'frame'}
          x={x + 0.5}
          y={y + 0.5}
          width={width - 1}
          height={height - 1}
          rx="10"
        />
      ))}
      {arrows.map((path) => (
        <path key={path} class="arrow" d={path} marker-end="url(#head)" />
      ))}
      {loopBack && (
        <>
          <path
            class={isRunning ? 'arrow loop running' : 'arrow loop'}
            d={loopBack.path}
            marker-end="url(#head)"
          />
          <text class="caption" x={loopBack.caption.x} y={loopBack.caption.y}>
            {loopBack.caption.text}
          </text>
        </>
      )}
      {captions.map(({ text, x, y }) => (
        <text key={`${text} ${y}`} class="caption" x={x} y={y}>
          {text}
        </text>
      ))}
    </g>
  );
}

function AdvisorBox({
  box,
  activity,
  isChosen,
  choose,
}: {
  readonly box: Box;
  readonly activity: Activity;
  readonly isChosen: boolean;
  readonly choose: (key: string) => void;
}): JSX.Element {
  const { key, kind, x, y, width, label, note, advisor } = box;
  const warnings = advisor?.warnings.length ?? 0;
  const isActive = activity.active.has(key);
  const isFailed = activity.failed.has(key);
  const classes = ['box', kind, isActive && 'active', isFailed && 'failed', isChosen && 'chosen'];
  const parts = [
    `${label} ${note}`,
    PLACES[kind],
    warnings > 0 && plural(warnings, 'warning'),
    isActive && 'at work',
    isFailed && 'has failed',
  ];
  return (
    <g
      class={classes.filter(Boolean).join(' ')}
      transform={`translate(${x} ${y})`}
      role="button"
      tabindex={0}
      aria-pressed={isChosen}
      aria-label={parts.filter(Boolean).join(', ')}
      onClick={() => choose(key)}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' && event.key !== ' ') return;
        event.preventDefault();
        choose(key);
      }}
    >
      <rect width={width} height={BOX_HEIGHT} rx={kind === 'model' ? BOX_HEIGHT / 2 : 7} />
      <text text-anchor="middle">
        <tspan class="name" x={width / 2} y="19">
          {fitting(label, width, 'name')}
        </tspan>{' '}
        <tspan class="note" x={width / 2} y="34">
          {fitting(note, width, 'note')}
        </tspan>
      </text>
      {(warnings > 0 || isFailed) && (
        <g class={isFailed ? 'mark failed' : 'mark'} transform={`translate(${width - 5} 5)`}>
          <circle r="8" />
          <path d={isFailed ? 'M-3 -3L3 3M3 -3L-3 3' : 'M0 -4.5V0.5M0 3V4'} />
        </g>
      )}
    </g>
  );
}

/** A text cut to the width of a box. */
function fitting(text: string, width: number, font: 'name' | 'note'): string {
  const room = width - 16;
  if (measure(text, font) <= room) return text;
  const characters = Array.from(text.slice(0, MAX_CHARACTERS));
  while (characters.length > 1 && measure(`${characters.join('')}…`, font) > room) characters.pop();
  return `${characters.join('')}…`;
}

const MAX_CHARACTERS = 60;
const FONTS = { name: '600 12.5px', note: '11px' };
const canvas = document.createElement('canvas').getContext('2d');

function measure(text: string, font: 'name' | 'note'): number {
  if (!canvas) return text.length * 8;
  canvas.font = `${FONTS[font]} ${getComputedStyle(document.body).fontFamily}`;
  return canvas.measureText(text.slice(0, MAX_CHARACTERS)).width;
}
