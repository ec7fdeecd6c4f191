// The validators of user profiles, compared with Keycloak: `validators.json` was recorded, with each value and, if it was
// refused, the message and its parameters.
import { expect, test } from 'vitest'
import { takeSample } from '../support/property-options.ts'
import { testServer } from '../support/server.ts'
import recorded from './validators.json' with { type: 'json' }

interface RecordedValidator {
  readonly validator: string
  readonly config: object
  /** The profile refuses this configuration. */
  readonly refused?: boolean
  readonly values?: readonly (readonly [value: string, says?: string, ...about: unknown[]])[]
  /** The reason why Regent responds differently. */
  readonly differs?: string
}

const { call, createRealm } = await testServer()
const path = await createRealm()
const permissions = { view: ['admin'], edit: ['admin'] }
const cases = (recorded as unknown as RecordedValidator[]).map(
  (entry) => [entry.validator, JSON.stringify(entry.config), entry] as const,
)

/** Keycloak: removes the message of Java's URI parser, which Regent does not have, from the parameters of an error. */
const withoutParserMessage = ([value, says, ...about]: readonly unknown[]) =>
  says === 'error-invalid-uri' ? [value, says, about[0]] : [value, ...(says === undefined ? [] : [says, ...about])]

test.each(takeSample(cases))(
  'validator %s with %s returns the same errors as in Keycloak',
  async (_, __, { validator, config, differs, ...expected }) => {
    const attributes = [{ name: 'username' }, { name: 'email' }]
    const attribute = { name: 'a', permissions, validations: { [validator]: config } }
    const put = await call('PUT', `${path}/users/profile`, { body: { attributes: [...attributes, attribute] } })
    const responses = []
    for (const [value] of put.status === 200 ? (expected.values ?? []) : []) {
      const { body, headers } = await call('POST', `${path}/users`, {
        body: { username: 'u', attributes: { a: [value] } },
      })
      responses.push(body ? [value, body.errorMessage, ...(body.params ?? []).slice(1)] : [value])
      if (!body) await call('DELETE', String(headers.location).replace(/^.*(?=\/admin)/, ''))
    }
    const actual = put.status === 200 ? { values: responses.map(withoutParserMessage) } : { refused: true }
    const expectedResult = {
      ...expected,
      ...(expected.values && { values: expected.values.map(withoutParserMessage) }),
    }
    if (differs) expect(actual).not.toEqual(expectedResult)
    else expect(actual).toEqual(expectedResult)
  },
)
