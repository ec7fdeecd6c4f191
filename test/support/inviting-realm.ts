// A realm with an organization that invites users, and a mailbox for its emails.

import { hashPassword } from '../../src/service/users/password-hashing.ts'
import { type Mailbox, openMailbox } from './mailbox.ts'
import { testServer } from './server.ts'

/** The redirect URL of the organization. No server listens there. */
export const LANDING = 'http://acme.example/welcome'

/** Creates the realm with the user Bob, whose password is `pw`, and the organization acme. */
export async function createInvitingRealm(settings: object = {}, organization: object = { redirectUrl: LANDING }) {
  const { call, create, createRealm } = await testServer()
  const mailbox: Mailbox = await openMailbox()
  const smtpServer = { host: '127.0.0.1', port: mailbox.port, from: 'sso@example.org' }
  const path = await createRealm({ organizationsEnabled: true, eventsEnabled: true, smtpServer, ...settings })
  const name = path.split('/').at(-1)!
  const acme = await create(`${path}/organizations`, {
    name: 'acme',
    domains: [{ name: 'acme.example' }],
    ...organization,
  })
  const bobPath = await create(`${path}/users`, {
    username: 'bob',
    enabled: true,
    email: 'bob@example.org',
    firstName: 'Bob',
    lastName: 'Example',
    credentials: [await hashPassword('pw')],
  })
  const bob = bobPath.split('/').at(-1)!
  const post = (operation: string, fields: Record<string, string>, organizationPath = acme) =>
    call('POST', `${organizationPath}/members/${operation}`, {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(fields).toString(),
    })
  /** Returns the link in the last email to an address. */
  const findLink = (address: string) => {
    const email = mailbox.emails.findLast(({ to }) => to.includes(address))
    return /http\S+\/(?:action-token|registrations)\?\S+/.exec(email?.text ?? '')?.[0] ?? ''
  }
  return {
    path,
    name,
    acme,
    bob,
    bobPath,
    mailbox,
    post,
    findLink,
    invite: async (email: string, fields: Record<string, string> = {}) => {
      const { status } = await post('invite-user', { email, ...fields })
      if (status !== 204) throw new Error(`the invitation was refused with ${status}`)
      return findLink(email)
    },
    inviteBob: async () => {
      const { status } = await post('invite-existing-user', { id: bob })
      if (status !== 204) throw new Error(`the invitation was refused with ${status}`)
      return findLink('bob@example.org')
    },
    listMembers: async () => {
      const { body } = await call('GET', `${acme}/members`)
      return (body as { username: string; membershipType: string }[]).map(
        ({ username, membershipType }) => `${username} ${membershipType}`,
      )
    },
    listInvitations: async (query = '') => (await call('GET', `${acme}/invitations${query}`)).body,
    listEvents: async (): Promise<{ type: string; error?: string; userId?: string }[]> =>
      (await call('GET', `${path}/events`)).body,
  }
}
