// Replays exchanges that were recorded with Keycloak. Steps whose responses differ are listed in differences.json with the
// reason. That list only gets shorter.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { takeSample } from '../support/property-options.ts'
import { needsDirectory, type RecordedExchanges, replay } from '../support/recorded-exchanges.ts'
import { testServer } from '../support/server.ts'
import { hasSlapd } from '../support/slapd.ts'

interface ListedDifference {
  readonly recording: string
  readonly step: number
  readonly reason: string
}

/** The reason of steps that have the status and the keys of Keycloak, and a different message. */
const PARSER_MESSAGE = 'parser message'
/** A difference between two messages, or in the parameters of one. */
const MESSAGE = /^body\.(?:(?:error|errorMessage): ".* expected, got "|params\.\[\]: )/s

const folder = join(import.meta.dirname, 'recordings')
const read = <T>(file: string) => JSON.parse(readFileSync(join(import.meta.dirname, file), 'utf8')) as T
const listed = read<ListedDifference[]>('differences.json')
const recordings = readdirSync(folder).map((file) => file.replace(/\.json$/, ''))

test.for(takeSample(recordings, 9))(
  '%s: responses equal those of Keycloak',
  { timeout: 120_000 },
  async (name, { skip }) => {
    const exchanges = read<RecordedExchanges>(`recordings/${name}.json`)
    skip(!hasSlapd && needsDirectory(exchanges), 'slapd is not installed')
    const differing = await replay(exchanges, await (await testServer()).listen())
    const listedSteps = listed.filter((difference) => difference.recording === name)
    const expected = new Set(listedSteps.map(({ step }) => step))
    const messageSteps = new Set(listedSteps.filter(({ reason }) => reason === PARSER_MESSAGE).map(({ step }) => step))
    const unexpected = [...differing].filter(
      ([step, differences]) =>
        !expected.has(step) || (messageSteps.has(step) && !differences.every((difference) => MESSAGE.test(difference))),
    )
    expect(
      unexpected.map(([step, differences]) => `${step} ${exchanges.steps[step]!.title}: ${differences.join('; ')}`),
      'steps that differ and are not listed',
    ).toEqual([])
    expect(
      [...expected].filter((step) => !differing.has(step)),
      'listed steps that no longer differ: remove them from the list',
    ).toEqual([])
  },
)

test('every listed difference has a recording and a reason', () => {
  const broken = listed.filter(({ recording, reason }) => !recordings.includes(recording) || !reason)
  expect(broken).toEqual([])
})
