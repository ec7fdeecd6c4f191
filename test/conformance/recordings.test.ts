// What the reference server answered, asked of Regent. Steps that differ on purpose, or not yet, stand in
// differences.json with the reason; that list only shrinks.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { takeSample } from '../support/property-options.ts'
import { type RecordedExchanges, replay } from '../support/recorded-exchanges.ts'
import { testServer } from '../support/server.ts'

interface Difference {
  readonly tape: string
  readonly step: number
  readonly reason: string
}

/** The reason of steps that have the status and the keys of the reference server, and a message of Regent's own. */
const PARSER_MESSAGE = 'parser message'
/** A difference between two messages, or in the parameters of one. */
const MESSAGE = /^body\.(?:(?:error|errorMessage): ".* expected, got "|params\.\[\]: )/s

const folder = import.meta.dirname
const read = <T>(file: string) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as T
const listed = read<Difference[]>('differences.json')
const tapes = readdirSync(folder).filter((file) => file.endsWith('.tape.json'))

test.each(takeSample(tapes))(
  '%s is answered as the reference server answers it',
  { timeout: 120_000 },
  async (file) => {
    const name = file.replace('.tape.json', '')
    const tape = read<RecordedExchanges>(file)
    const differing = await replay(tape, await (await testServer()).listen())
    const ofTape = listed.filter((difference) => difference.tape === name)
    const expected = new Set(ofTape.map(({ step }) => step))
    const worded = new Set(ofTape.filter(({ reason }) => reason === PARSER_MESSAGE).map(({ step }) => step))
    const unexpected = [...differing].filter(
      ([step, found]) => !expected.has(step) || (worded.has(step) && !found.every((one) => MESSAGE.test(one))),
    )
    expect(
      unexpected.map(([step, found]) => `${step} ${tape.steps[step]!.title}: ${found.join('; ')}`),
      'steps that differ and are not listed',
    ).toEqual([])
    expect(
      [...expected].filter((step) => !differing.has(step)),
      'steps that are listed and do not differ: take them off the list',
    ).toEqual([])
  },
)

test('every listed difference has a tape and a reason', () => {
  const broken = listed.filter(({ tape, reason }) => !tapes.includes(`${tape}.tape.json`) || !reason)
  expect(broken).toEqual([])
})
