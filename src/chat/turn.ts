/** One user request until its final answer, however many requests to a model that takes. */
export class Turn {
  private own: string | undefined;

  /** @param id @default a random one, made when somebody asks for it */
  constructor(id?: string) {
    this.own = id;
  }

  get id(): string {
    return (this.own ??= randomId());
  }
}

/** 128 random bits; `randomUUID` would be shorter, but a page without https does not have it. */
function randomId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
