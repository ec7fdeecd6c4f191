// Reading a document from another server, within limits.

/** What a document may be at most. */
const LONGEST = 1_048_576
const TIMEOUT = 5_000

/** The text at an address. Throws with what keeps it from being read: another scheme, no answer, a refusal, too much. */
export async function fetchText(address: string): Promise<string> {
  const url = URL.parse(address)
  if (!url || !['http:', 'https:'].includes(url.protocol)) throw new Error('it is no address of the web')
  const answer = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(TIMEOUT) }).catch((error: Error) => {
    throw new Error(error.name === 'TimeoutError' ? 'there was no answer in time' : 'there was no answer', {
      cause: error,
    })
  })
  if (!answer.ok) throw new Error(`the answer was ${answer.status}`)
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of answer.body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length > LONGEST) throw new Error('the answer is longer than a megabyte')
  }
  return text + decoder.decode()
}
