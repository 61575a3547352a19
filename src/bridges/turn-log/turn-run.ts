import type { ChatEvent } from '../../core/chat/chat-event.js';
import { cancelledError } from '../../core/internal/cancellation.js';
import { notify } from '../../core/internal/notify.js';
import type { ContinuedTurn } from './continued-turn.js';
import { encodeEnd, encodeEvent } from './event-codec.js';
import type { LogSettings } from './log-settings.js';
import { LogWriter, type LoggedRun } from './log-writer.js';

/** Milliseconds without an event after which a replay is taken for one that waits. */
const REPLAY_PAUSE = 100;
const CLIENT_LEFT = 499;

/** A run of this process that is read to its end and logged. */
export class TurnRun {
  private readonly writer: LogWriter;
  private hasEnded = false;
  private pauseTimer: ReturnType<typeof setTimeout> | undefined;

  /** @param continued set if the log has events of the turn */
  constructor(
    private readonly events: AsyncIterator<ChatEvent>,
    run: LoggedRun,
    private readonly settings: LogSettings,
    private readonly continued: ContinuedTurn | undefined,
  ) {
    this.writer = new LogWriter(run, settings, {
      onStop: () => this.stop(),
      onLost: (error) => this.lose(error),
    });
  }

  /** Resolves when the run is logged to its end, or was lost; never rejects. */
  async log(): Promise<void> {
    const writing = this.writer.write();
    void this.readEvents();
    await writing;
  }

  /** Cancels the run: its log ends like a cancelled run. */
  stop(): void {
    if (this.hasEnded) return;
    this.leave();
    this.fail(cancelledError());
  }

  private async readEvents(): Promise<void> {
    try {
      for (;;) {
        this.watchReplay();
        const next = await this.events.next();
        clearTimeout(this.pauseTimer);
        if (this.hasEnded) return;
        if (next.done) return this.finish();
        this.add(this.continued ? this.continued.next(next.value) : [next.value]);
        await this.writer.ready();
      }
    } catch (error) {
      clearTimeout(this.pauseTimer);
      this.leave();
      this.fail(error);
    }
  }

  private watchReplay(): void {
    if (!this.continued?.isHolding) return;
    this.pauseTimer = setTimeout(() => this.addHeld(), REPLAY_PAUSE);
  }

  private addHeld(): void {
    if (this.continued?.isHolding) this.add(this.continued.catchUp());
  }

  private add(events: readonly ChatEvent[]): void {
    for (const event of events) {
      const entry = encodeEvent(event, this.continued !== undefined);
      if (entry !== undefined) this.writer.add(entry);
    }
  }

  private finish(): void {
    this.addHeld();
    this.hasEnded = true;
    this.writer.finish('complete', encodeEnd({ type: 'log-end' }));
  }

  private fail(error: unknown): void {
    if (this.hasEnded) return;
    this.addHeld();
    this.hasEnded = true;
    const shown = this.report(error);
    this.writer.finish('failed', encodeEnd({ type: 'log-error', error: shown }));
  }

  private lose(error: unknown): void {
    this.leave();
    this.hasEnded = true;
    this.report(error);
  }

  private report(error: unknown): ReturnType<LogSettings['toError']> {
    const { toError, onError } = this.settings;
    const shown = toError(error);
    if (shown.status !== CLIENT_LEFT) notify(() => onError(error, shown));
    return shown;
  }

  /** Leaves the run, which cancels it unless it has ended. */
  private leave(): void {
    clearTimeout(this.pauseTimer);
    this.events.return?.().catch(() => undefined); // it has no reader
  }
}
