// Every operation on realms and users is compared with Keycloak.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { operations } from '../../src/http/admin/index.ts'
import { findOperation } from '../support/described-responses.ts'
import type { RecordedExchanges } from '../support/recorded-exchanges.ts'
import { userTags } from '../support/user-tags.ts'

/** Operations that Keycloak no longer has. test/admin/users.test.ts tests them. */
const REMOVED_FROM_KEYCLOAK = ['removeUserTotp']

test('every operation on realms and users has a recorded exchange', () => {
  const folder = join(import.meta.dirname, 'recordings')
  const steps = readdirSync(folder).flatMap((file) => {
    const { steps } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as RecordedExchanges
    return steps.map(({ request: { method, path } }) => findOperation(method, path)?.operationId)
  })
  const recordedIds = new Set(steps)
  const missing = operations.filter(({ tag, operationId }) => userTags.includes(tag) && !recordedIds.has(operationId))
  expect(missing.map(({ operationId }) => operationId)).toEqual(REMOVED_FROM_KEYCLOAK)
})
