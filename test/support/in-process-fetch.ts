/** A `fetch` that answers without a network: its body comes in these pieces. */
export function answering(pieces: readonly Uint8Array[], type: string): typeof fetch {
  return () => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const piece of pieces) controller.enqueue(piece);
        controller.close();
      },
    });
    return Promise.resolve(new Response(body, { headers: { 'content-type': type } }));
  };
}
