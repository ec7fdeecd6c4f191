// Reads server-sent events (WHATWG HTML, section 9.2).

/** A server-sent event with JSON as its data. */
export interface ServerEvent {
  readonly event: string
  /** The parsed data. */
  readonly data: unknown
}

/** Yields the events of a stream as they arrive. */
export async function* readEvents(chunks: AsyncIterable<Uint8Array | string>): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of chunks) {
    rest += typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true })
    const blocks = rest.split('\n\n')
    rest = blocks.pop()!
    for (const block of blocks) {
      const fields = new Map(block.split('\n').map((line) => line.split(/: ?(.*)/s, 2) as [string, string]))
      const data = fields.get('data')
      if (data !== undefined) yield { event: fields.get('event') ?? 'message', data: JSON.parse(data) }
    }
  }
}
