// What the reference server says of values by the validators of user profiles: `validators.json` was recorded from it, with the
// value, and where it was refused what was said and what that was about.
import { expect, test } from 'vitest'
import { takeSample } from '../support/property-options.ts'
import { testServer } from '../support/server.ts'
import recorded from './validators.json' with { type: 'json' }

interface Recorded {
  readonly validator: string
  readonly config: object
  /** The profile cannot have it. */
  readonly refused?: boolean
  readonly values?: readonly (readonly [value: string, says?: string, ...about: unknown[]])[]
  /** Why it is answered otherwise. */
  readonly differs?: string
}

const { call, realm } = await testServer()
const path = await realm()
const permissions = { view: ['admin'], edit: ['admin'] }
const named = (recorded as unknown as Recorded[]).map(
  (one) => [one.validator, JSON.stringify(one.config), one] as const,
)

/** Keycloak: after an address that is none follows the message of Java's parser, which Regent does not have. */
const withoutParserMessage = ([value, says, ...about]: readonly unknown[]) =>
  says === 'error-invalid-uri' ? [value, says, about[0]] : [value, ...(says === undefined ? [] : [says, ...about])]

test.each(takeSample(named))(
  'the validator %s with %s says the same',
  async (_, __, { validator, config, differs, ...expected }) => {
    const attributes = [{ name: 'username' }, { name: 'email' }]
    const tested = { name: 'a', permissions, validations: { [validator]: config } }
    const put = await call('PUT', `${path}/users/profile`, { body: { attributes: [...attributes, tested] } })
    const found = []
    for (const [value] of put.status === 200 ? (expected.values ?? []) : []) {
      const { body, headers } = await call('POST', `${path}/users`, {
        body: { username: 'u', attributes: { a: [value] } },
      })
      found.push(body ? [value, body.errorMessage, ...(body.params ?? []).slice(1)] : [value])
      if (!body) await call('DELETE', String(headers.location).replace(/^.*(?=\/admin)/, ''))
    }
    const answer = put.status === 200 ? { values: found.map(withoutParserMessage) } : { refused: true }
    const wanted = { ...expected, ...(expected.values && { values: expected.values.map(withoutParserMessage) }) }
    if (differs) expect(answer).not.toEqual(wanted)
    else expect(answer).toEqual(wanted)
  },
)
