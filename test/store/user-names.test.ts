// Constraints of the database keep user names and email addresses unique.
import { sql } from 'kysely'
import { afterAll, expect, test } from 'vitest'
import { openStore } from '../../src/store/database/database.ts'
import { findUserForLogin } from '../../src/store/users/users.ts'
import { newDatabase } from '../support/service.ts'

/** The fields of a user row. */
interface UserFields {
  readonly id: string
  readonly username: string
  readonly email?: string
  readonly soleEmail?: string | undefined
}

const store = await openStore(await newDatabase())
afterAll(() => store.close())

/** Creates a realm with users. */
async function insertRealm(realm: number, users: readonly UserFields[]): Promise<void> {
  await store.transaction(async (tx) => {
    await sql`insert into realm (number, id, name, version, body)
      values (${realm}, ${`r${realm}`}, ${`r${realm}`}, 1, '{}')`.execute(tx)
    for (const { id, username, email = null, soleEmail = null } of users)
      await sql`insert into user_account (realm, id, username, email, sole_email, version, body)
        values (${realm}, ${id}, ${username}, ${email}, ${soleEmail}, 1, '{"enabled": true}')`.execute(tx)
  })
}

const idAtLogin = async (realm: number, name: string) =>
  (await store.read((db) => findUserForLogin(db, realm, { name, byEmail: true })))?.id

test('two names that differ only in case are refused in one realm, and accepted in two realms', async () => {
  for (const [first, second] of [
    ['victim', 'Victim'],
    ['élodie', 'Élodie'],
  ] as const) {
    const both = [
      { id: '1', username: first },
      { id: '2', username: second },
    ]
    await expect(insertRealm(1, both)).rejects.toMatchObject({
      code: '23505',
      constraint: 'user_account_username_folded',
    })
  }
  await insertRealm(1, [{ id: '1', username: 'victim' }])
  await insertRealm(2, [{ id: '1', username: 'Victim' }])
})

test('a unique email address belongs to one user of a realm', async () => {
  const [ann, eve] = ['ann', 'eve'].map((username) => ({
    id: username,
    username,
    email: 'ann@x.example',
    soleEmail: 'ann@x.example',
  }))
  await expect(insertRealm(3, [ann!, eve!])).rejects.toMatchObject({
    code: '23505',
    constraint: 'user_account_sole_email',
  })
  await insertRealm(3, [ann!, { ...eve!, soleEmail: undefined }])
  await insertRealm(4, [eve!])
  expect(await idAtLogin(3, 'ann@x.example')).toBe('ann')
  expect(await idAtLogin(4, 'ann@x.example')).toBe('eve')
})

test('a user name that is the email address of another user finds the other user at login', async () => {
  await insertRealm(5, [
    { id: '1', username: 'victim@x.example', email: 'evil@evil.example', soleEmail: 'evil@evil.example' },
    { id: '2', username: 'victim', email: 'victim@x.example', soleEmail: 'victim@x.example' },
  ])
  expect(await idAtLogin(5, 'victim@x.example')).toBe('2')
  expect(await idAtLogin(5, 'evil@evil.example')).toBe('1')
})
