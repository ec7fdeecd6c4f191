// Password policies of a realm apply to every password that is set.
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createServer } from '../../src/http/server.ts'
import { openPasswordBlacklists } from '../../src/service/context/password-blacklists.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { openService } from '../../src/service/operations/open-service.ts'
import { testServer } from '../support/server.ts'
import { newDatabase, newName, testService } from '../support/service.ts'
import { applySource, createSource } from '../support/sources.ts'

const { service } = await testService()
const server = await testServer()
const closeFunctions: (() => Promise<unknown>)[] = []
afterAll(() => Promise.all(closeFunctions.map((close) => close())))

const ANN = { username: 'ann', email: 'ann@example.org', firstName: 'Ann', lastName: 'Alder', enabled: true }

/** Sets passwords one after the other, and returns the error of each, or undefined if it was accepted. */
async function setPasswords(passwordPolicy: string, passwords: readonly string[]): Promise<(string | undefined)[]> {
  const realm = await server.createRealm({ passwordPolicy })
  const user = await server.create(`${realm}/users`, ANN)
  const errors: (string | undefined)[] = []
  for (const value of passwords) {
    const { body } = await server.call('PUT', `${user}/reset-password`, { body: { type: 'password', value } })
    errors.push(body?.error_description?.replace('Invalid password: ', ''))
  }
  return errors
}

test('each policy accepts passwords that fulfil it, and returns its error for others', async () => {
  const cases: [policy: string, bad: string, good: string, message: string][] = [
    ['length(3)', 'ab', 'abc', 'minimum length 3.'],
    ['length', 'abcdefg', 'abcdefgh', 'minimum length 8.'],
    ['maxLength(3)', 'abcd', 'abc', 'maximum length 3.'],
    ['digits(1)', 'a', 'a٣', 'must contain at least 1 numerical digits.'],
    ['lowerCase(2)', 'ABc', 'ABcé', 'must contain at least 2 lower case characters.'],
    ['upperCase(1)', 'éa', 'Éa', 'must contain at least 1 upper case characters.'],
    ['specialChars(1)', 'aß1', 'a_', 'must contain at least 1 special characters.'],
    ['notUsername', 'ANN', 'anna', 'must not be equal to the username.'],
    ['notContainsUsername', 'joANNa', 'an', 'Can not contain the username.'],
    ['notEmail', 'Ann@Example.org', 'ann', 'must not be equal to the email.'],
    ['regexPattern(a+) and regexPattern(.{3,})', 'aa', 'aaa', 'fails to match regex pattern(s).'],
    ['regexPattern([a-z\\!]+)', 'a1', 'a!', 'fails to match regex pattern(s).'],
    ['regexPattern((a+)+b)', 'a'.repeat(50), 'ab', 'fails to match regex pattern(s).'],
  ]
  for (const [policy, bad, good, message] of cases) {
    expect(await setPasswords(policy, [bad, good]), policy).toEqual([message, undefined])
  }
})

test('the first error is the one that Keycloak returns first, for any order of the policy', async () => {
  const [error] = await setPasswords('maxLength(1) and digits(9) and length(90) and specialChars(9)', ['ann'])
  expect(error).toBe('must contain at least 9 special characters.')
})

test('a used password is refused for the number of changes of passwordHistory and the days of passwordAge', async () => {
  const historyError = 'must not be equal to any of last 3 passwords.'
  expect(await setPasswords('passwordHistory(3)', ['a', 'b', 'c', 'a', 'c', 'd', 'a', 'c'])).toEqual([
    undefined,
    undefined,
    undefined,
    historyError,
    historyError,
    undefined,
    undefined,
    historyError,
  ])
  const ageError = 'new password does not match password policies.'
  expect(await setPasswords('passwordAge(10)', ['a', 'b', 'c', 'a'])).toEqual([
    undefined,
    undefined,
    undefined,
    ageError,
  ])
})

test('previous passwords are stored as long as a policy requires them', async () => {
  const realm = await server.createRealm({ passwordPolicy: 'passwordHistory(3)' })
  const user = await server.create(`${realm}/users`, ANN)
  const listTypes = async () =>
    (await server.call('GET', `${user}/credentials`)).body.map(({ type }: { type: string }) => type)
  const reset = (value: string) => server.call('PUT', `${user}/reset-password`, { body: { type: 'password', value } })
  for (const value of ['a', 'b', 'c', 'd']) await reset(value)
  expect(await listTypes()).toEqual(['password', 'password-history', 'password-history'])
  await server.call('PUT', realm, { body: { passwordPolicy: '' } })
  await reset('e')
  expect(await listTypes()).toEqual(['password'])
})

test.each([
  ['nothing(1)', 'Password policy not found'],
  ['length()', 'Invalid config for length: Not a valid number'],
  ['length(9999999999)', 'Invalid config for length: Not a valid number'],
  ['length(8)and digits(1)', 'Invalid config for length: Not a valid number'],
  ['digits(1', 'Invalid config for digits: The bracket is not closed'],
  ['hashAlgorithm(md5)', 'Invalid config for hashAlgorithm: Password hashing provider not found'],
  ['hashAlgorithm', 'Invalid config for hashAlgorithm: Password hashing provider id must be set'],
  ['regexPattern', 'Invalid config for regexPattern: Config required'],
  ['regexPattern([)', 'Invalid config for regexPattern: Not a valid regular expression'],
  ['regexPattern(\\X)', 'Invalid config for regexPattern: Not a valid regular expression'],
  [
    'passwordBlacklist(../key)',
    'Invalid config for passwordBlacklist: There is no password blacklist ../key in the blacklist folder',
  ],
])('a realm cannot have the policy %s', async (passwordPolicy, errorMessage) => {
  const realm = await server.createRealm()
  expect(await server.call('PUT', realm, { body: { passwordPolicy } })).toMatchObject({
    status: 400,
    body: { errorMessage },
  })
  const response = await server.call('POST', '/admin/realms', { body: { realm: newName(), passwordPolicy } })
  expect(response).toMatchObject({ status: 400, body: { errorMessage } })
})

test('a password in the blacklist of the policy is refused, in upper or lower case', async () => {
  const passwordLists = await mkdtemp(join(tmpdir(), 'lists-'))
  await writeFile(join(passwordLists, 'common.txt'), 'letmein\r\nPassword1\r\n')
  const service = await openService({
    location: await newDatabase(),
    key: new Uint8Array(32),
    passwordBlacklists: openPasswordBlacklists(passwordLists),
  })
  closeFunctions.push(service.close)
  await service.createRealm(SYSTEM, { representation: { realm: 'master' } }, async () => {})
  const app = await createServer(service, { caller: SYSTEM })
  const settings = { realm: 'listed', enabled: true, passwordPolicy: 'passwordBlacklist(common.txt)' }
  expect((await app.inject({ method: 'POST', url: '/admin/realms', payload: settings })).statusCode).toBe(201)
  const createUser = (username: string, value: string) =>
    app.inject({ method: 'POST', url: '/admin/realms/listed/users', payload: { username, credentials: [{ value }] } })
  const refusal = await createUser('ann', 'pASSWORD1')
  expect(refusal.json()).toEqual({
    error: 'invalidPasswordBlacklistedMessage',
    error_description: 'Invalid password: password is not allowed.',
  })
  expect((await createUser('ann', 'Password')).statusCode).toBe(201)
  await writeFile(join(passwordLists, 'common.txt'), 'mind the gap, please\n')
  expect((await createUser('ben', 'mind the gap, please')).statusCode).toBe(400)
})

test('passwords of users in a new realm and in a document must fulfil the policy', async () => {
  const weak = { ...ANN, credentials: [{ type: 'password', value: 'short' }] }
  const realm = newName()
  const body = { realm, passwordPolicy: 'length(8)', users: [weak] }
  expect(await server.call('POST', '/admin/realms', { body })).toMatchObject({
    status: 400,
    body: { error: 'invalidPasswordMinLengthMessage' },
  })
  await expect(applySource(service, createSource([body]))).rejects.toThrow('Invalid password: minimum length 8.')
  await applySource(service, createSource([{ ...body, users: [] }]))
  await expect(applySource(service, createSource([{ realm, users: [weak] }]))).rejects.toThrow('minimum length 8.')
})
