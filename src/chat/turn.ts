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

/** Words of 32 bits. */
const WORDS = 4;
/** Random words of many ids: to ask for a few at a time costs more than all that is done with them. */
const random = new Uint32Array(WORDS * 256);
let used = random.length;

/** 128 random bits; `randomUUID` would be shorter, but a page without https does not have it. */
function randomId(): string {
  if (used === random.length) {
    crypto.getRandomValues(random);
    used = 0;
  }
  let id = '';
  for (const end = used + WORDS; used < end; used++) id += (random[used] as number).toString(16).padStart(8, '0');
  return id;
}
