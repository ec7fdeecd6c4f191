// Nobody learns of a realm what they ask of another: an id or a name from elsewhere is one that does not exist.
import { beforeAll, expect, test } from 'vitest'
import { operations } from '../../src/http/admin/index.ts'
import { listParameters, type Operation } from '../../src/http/operation.ts'
import {
  createBody,
  createFilledRealm,
  type FilledRealm,
  findUnknownValue,
  toAddress,
} from '../support/filled-realm.ts'
import { takeSample } from '../support/property-options.ts'
import { testServer } from '../support/server.ts'

const { app, adminToken } = await testServer()

const MINE = 'alpha'
const THEIRS = 'omega'
let mine: FilledRealm
let theirs: FilledRealm
beforeAll(async () => {
  mine = await createFilledRealm(MINE)
  theirs = await createFilledRealm(THEIRS)
})

const addressed = takeSample(operations.filter(({ path }) => listParameters(path).length > 1))

const EXAMPLE = '/admin/realms/{realm}/clients/{client-uuid}/evaluate-scopes/generate-example'

/** What objects do not have, although they are there. */
const without: Readonly<Record<string, string>> = {
  [`${EXAMPLE}-access-token`]: 'a user, whom the query names',
  [`${EXAMPLE}-id-token`]: 'a user, whom the query names',
  [`${EXAMPLE}-userinfo`]: 'a user, whom the query names',
  '/admin/realms/{realm}/localization/{locale}/{key}': 'no text in the language',
  '/admin/realms/{realm}/authentication/required-actions/{alias}/config-description': 'an action without settings',
  '/admin/realms/{realm}/clients/{client-uuid}/client-secret/rotated': 'a secret that does not rotate',
}

test.each(addressed)('$method $path', async (operation) => {
  const { path } = operation
  const others = listParameters(path).slice(1)
  for (const [at, parameter] of others.entries()) {
    const absent = findUnknownValue(path, parameter, THEIRS)
    if (absent === undefined) continue
    for (const owners of choices(others.length - 1)) {
      const around = others
        .toSpliced(at, 1)
        .map((other, which): [string, string] => [other, owners[which]!.value(path, other)])
      const values = (value: string) => new Map([['realm', mine.name], ...around, [parameter, value]])
      const foreign = theirs.value(path, parameter)
      const [one, none] = [
        await answer(operation, values(foreign), foreign),
        await answer(operation, values(absent), absent),
      ]
      expect(one, `${parameter} of another realm, ${owners.map(({ name }) => name)}`).toEqual(none)
    }
  }
})

test('what is asked for does exist in its own realm', async () => {
  const missing: string[] = []
  for (const { method, path } of addressed.filter(({ method }) => method === 'GET')) {
    const address = toAddress(path, theirs)
    const { statusCode } = await app.inject({
      url: address,
      headers: { authorization: `Bearer ${await adminToken()}` },
    })
    if (statusCode === 404 && !(path in without)) missing.push(`${method} ${path} ${statusCode}`)
  }
  expect(missing).toEqual([])
})

/** Every way to choose one of the two realms for each of so many parameters. */
function choices(count: number): FilledRealm[][] {
  if (count === 0) return [[]]
  return choices(count - 1).flatMap((rest) => [
    [mine, ...rest],
    [theirs, ...rest],
  ])
}

/** The whole answer, as it is sent, less its date; for the value stands a placeholder. */
async function answer(operation: Operation, values: ReadonlyMap<string, string>, value: string) {
  const body = createBody(operation, 'fresh')
  const { statusCode, headers, rawPayload } = await app.inject({
    method: operation.method,
    url: toAddress(operation.path, { value: (_path, one) => values.get(one)! }),
    headers: {
      authorization: `Bearer ${await adminToken()}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { payload: JSON.stringify(body) }),
  })
  const text = JSON.stringify({ ...headers, date: '' })
  return `${statusCode} ${text} ${rawPayload.toString('latin1')}`.replaceAll(value, '{value}')
}
