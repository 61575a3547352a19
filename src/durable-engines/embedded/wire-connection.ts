import { timingSafeEqual } from 'node:crypto';
import type { Socket } from 'node:net';
import type { SharedSession } from './shared-session.js';
import { fatalError, PASSWORD_REQUEST } from './wire-answer.js';
import { CANCEL_REQUEST, GSS_REQUEST, SSL_REQUEST, WireUnits } from './wire-units.js';

/** Connection of a client of the database, from its startup message to its end. */
export class WireConnection {
  private readonly units = new WireUnits();
  /** The startup message, until the password has come. */
  private startup: Uint8Array | undefined;
  private isAdmitted = false;
  private isBusy = false;

  constructor(
    private readonly socket: Socket,
    private readonly session: SharedSession,
    private readonly token: string,
    private readonly notify: (bytes: Buffer) => void,
  ) {}

  /** Takes bytes of the client; answers in the order of its messages. */
  async receive(bytes: Buffer): Promise<void> {
    this.units.add(bytes);
    if (this.isBusy) return;
    this.isBusy = true;
    try {
      while (await (this.startup || this.isAdmitted ? this.answerUnit() : this.begin()));
    } finally {
      this.isBusy = false;
    }
  }

  /** Passes notifications on to the client. */
  send(bytes: Buffer): void {
    if (this.isAdmitted && this.socket.writable) this.socket.write(bytes);
  }

  close(): void {
    this.socket.destroy();
  }

  /** True if there may be more to read. */
  private async begin(): Promise<boolean> {
    const message = this.units.startup();
    if (!message) return false;
    if (message.code === SSL_REQUEST || message.code === GSS_REQUEST) this.socket.write('N');
    else if (message.code === CANCEL_REQUEST) this.socket.end();
    else {
      this.startup = message.bytes;
      this.socket.write(PASSWORD_REQUEST);
    }
    return true;
  }

  private async answerUnit(): Promise<boolean> {
    const unit = this.units.unit();
    if (!unit) return false;
    if (unit.type === 'X') return (this.socket.end(), false);
    if (this.startup) return this.admit(unit.bytes, this.startup);
    await this.run(unit.bytes);
    return true;
  }

  private async admit(password: Uint8Array, startup: Uint8Array): Promise<boolean> {
    const given = Buffer.from(password).subarray(5, -1);
    const wanted = Buffer.from(this.token);
    if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) {
      this.socket.end(fatalError('28P01', 'password authentication failed'));
      return false;
    }
    this.startup = undefined;
    this.isAdmitted = true;
    await this.run(startup);
    return true;
  }

  private async run(bytes: Uint8Array): Promise<void> {
    const { own, notifications } = await this.session.run(this, bytes);
    if (this.socket.writable) this.socket.write(own);
    if (notifications.length > 0) this.notify(notifications);
  }
}
