// A realm with an organization that invites users, and a mailbox for its emails.

import { hashPassword } from '../../src/service/users/password-hashing.ts'
import { type Mailbox, openMailbox } from './mailbox.ts'
import { testServer } from './server.ts'

/** The redirect URL of the organization. No server listens there. */
export const LANDING = 'http://acme.example/welcome'

/** Seconds after which a link expires that a test waits for. An email that is delivered later is dropped, since its link is expired. */
export const SHORT_LIFESPAN = 5

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
    const email = mailbox.emails.findLast(({ to }) => to.includes(address.toLowerCase()))
    return /http\S+\/(?:action-token|registrations)\?\S+/.exec(email?.text ?? '')?.[0] ?? ''
  }
  const sendInvitation = async (operation: string, fields: Record<string, string>, address: string) => {
    const { status } = await post(operation, fields)
    if (status !== 204) throw new Error(`the invitation was refused with ${status}`)
    const link = findLink(address)
    if (link === '') throw new Error(`no email with a link was delivered to ${address}`)
    return link
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
    invite: (email: string, fields: Record<string, string> = {}) =>
      sendInvitation('invite-user', { email, ...fields }, email),
    inviteBob: () => sendInvitation('invite-existing-user', { id: bob }, 'bob@example.org'),
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
