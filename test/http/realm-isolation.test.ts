// Ids and names of objects of another realm get the same response as ids and names that do not exist.
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

const HOME_LABEL = 'alpha'
const OTHER_LABEL = 'omega'
let homeRealm: FilledRealm
let otherRealm: FilledRealm
beforeAll(async () => {
  homeRealm = await createFilledRealm(HOME_LABEL)
  otherRealm = await createFilledRealm(OTHER_LABEL)
})

const operationsWithIds = takeSample(operations.filter(({ path }) => listParameters(path).length > 1))

const EXAMPLE = '/admin/realms/{realm}/clients/{client-uuid}/evaluate-scopes/generate-example'

/** Operations that return 404 although the objects of their path exist, with what is missing. */
const incompleteReads: Readonly<Record<string, string>> = {
  [`${EXAMPLE}-access-token`]: 'the user in the query',
  [`${EXAMPLE}-id-token`]: 'the user in the query',
  [`${EXAMPLE}-saml-response`]: 'the user in the query',
  [`${EXAMPLE}-userinfo`]: 'the user in the query',
  '/admin/realms/{realm}/localization/{locale}/{key}': 'a text in the language',
  '/admin/realms/{realm}/authentication/required-actions/{alias}/config-description':
    'a configuration of the required action',
  '/admin/realms/{realm}/clients/{client-uuid}/client-secret/rotated': 'a rotated secret',
}

test.each(operationsWithIds)(
  '$method $path returns the same for another realm as for unknown objects',
  async (operation) => {
    const { path } = operation
    const parameters = listParameters(path).slice(1)
    for (const [index, parameter] of parameters.entries()) {
      const unknown = findUnknownValue(path, parameter, OTHER_LABEL)
      if (unknown === undefined) continue
      for (const owners of listChoices(parameters.length - 1)) {
        const remaining = parameters
          .toSpliced(index, 1)
          .map((other, position): [string, string] => [other, owners[position]!.value(path, other)])
        const values = (value: string) => new Map([['realm', homeRealm.name], ...remaining, [parameter, value]])
        const foreign = otherRealm.value(path, parameter)
        const [foreignResponse, unknownResponse] = [
          await getResponse(operation, values(foreign), foreign),
          await getResponse(operation, values(unknown), unknown),
        ]
        expect(foreignResponse, `${parameter} of another realm, ${owners.map(({ name }) => name)}`).toEqual(
          unknownResponse,
        )
      }
    }
  },
)

test('GET finds every object in its realm', async () => {
  const missing: string[] = []
  for (const { method, path } of operationsWithIds.filter(({ method }) => method === 'GET')) {
    const address = toAddress(path, otherRealm)
    const { statusCode } = await app.inject({
      url: address,
      headers: { authorization: `Bearer ${await adminToken()}` },
    })
    if (statusCode === 404 && !(path in incompleteReads)) missing.push(`${method} ${path} ${statusCode}`)
  }
  expect(missing).toEqual([])
})

/** Returns all ways to assign one of the two realms to each of a number of parameters. */
function listChoices(count: number): FilledRealm[][] {
  if (count === 0) return [[]]
  return listChoices(count - 1).flatMap((rest) => [
    [homeRealm, ...rest],
    [otherRealm, ...rest],
  ])
}

/** Returns the complete response without its date and request id, and with a placeholder for the value. */
async function getResponse(operation: Operation, values: ReadonlyMap<string, string>, value: string) {
  const body = createBody(operation, 'new-object')
  const { statusCode, headers, rawPayload } = await app.inject({
    method: operation.method,
    url: toAddress(operation.path, { value: (_path, name) => values.get(name)! }),
    headers: {
      authorization: `Bearer ${await adminToken()}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { payload: JSON.stringify(body) }),
  })
  const text = JSON.stringify({ ...headers, date: '', 'x-request-id': '' })
  return `${statusCode} ${text} ${rawPayload.toString('latin1')}`.replaceAll(value, '{value}')
}
