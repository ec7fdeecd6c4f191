// Whether everything that the API of realms and people can do is compared with the reference server.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { operations } from '../../src/http/admin/index.ts'
import { findOperation } from '../support/described-responses.ts'
import type { RecordedExchanges } from '../support/recorded-exchanges.ts'
import { userTags } from '../support/user-tags.ts'

/** The reference server has it no more; users.test.ts tells what it does. */
const ONLY_HERE = ['removeUserTotp']

test('every operation of realms and people is in a tape', () => {
  const tapes = readdirSync(import.meta.dirname).filter((file) => file.endsWith('.tape.json'))
  const steps = tapes.flatMap((file) => {
    const { steps } = JSON.parse(readFileSync(join(import.meta.dirname, file), 'utf8')) as RecordedExchanges
    return steps.map(({ request: { method, path } }) => findOperation(method, path)?.operationId)
  })
  const asked = new Set(steps)
  const silent = operations.filter(({ tag, operationId }) => userTags.includes(tag) && !asked.has(operationId))
  expect(silent.map(({ operationId }) => operationId)).toEqual(ONLY_HERE)
})
