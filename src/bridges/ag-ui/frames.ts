/** Frames of server-sent events that are not written yet. */
export class Frames {
  private text = '';

  add(type: string, fields: object): void {
    this.text += `data: ${JSON.stringify({ type, ...fields })}\n\n`;
  }

  take(): string {
    const { text } = this;
    this.text = '';
    return text;
  }
}
