// Property: whatever three tenants with random permissions declare, the owner's declarations are live, nothing reaches beyond the permissions,
// and the removal of the tenants restores the realm.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { exportRealm } from '../../src/realm-file/export/export-realm.ts'
import { planSources } from '../../src/reconcile/run/run.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { toTenantPermissions } from '../../src/service/context/source-permissions.ts'
import { propertyOptions, TIME_LIMIT } from '../support/property-options.ts'
import { newName, testService } from '../support/service.ts'
import { applySource, createSource } from '../support/sources.ts'

const { service } = await testService()

/** A declaration of a tenant. `top`: kind and name of the object that the permissions must permit; absent: it is never permitted. */
interface Attempt {
  readonly kind: string
  readonly name: string
  readonly spec: object
  readonly top?: readonly [kind: string, name: string]
  /** The roles of others that it grants. */
  readonly grants?: readonly string[]
}

const claim = { protocol: 'openid-connect', protocolMapper: 'oidc-hardcoded-claim-mapper' }
const permissible = (kind: string, name: string, more: Partial<Attempt> = {}): Attempt => ({
  ...{ kind, name, spec: {}, top: [kind, kind === 'RealmGroup' ? `/${name}` : name] },
  ...more,
})
const never = (kind: string, name: string, spec: object = {}): Attempt => ({ kind, name, spec })

const ATTEMPTS: readonly Attempt[] = [
  permissible('RealmClient', 'app', { spec: { serviceAccountsEnabled: true } }),
  permissible('RealmClient', 'team-app'),
  permissible('RealmRole', 'lead'),
  permissible('RealmRole', 'team-lead', { spec: { composites: { realm: ['staff'] } }, grants: ['realm/staff'] }),
  permissible('RealmRole', 'admin-of-app', { spec: { client: 'app' }, top: ['RealmClient', 'app'] }),
  permissible('RealmRole', 'strong', {
    ...{ spec: { client: 'app', composites: { client: { shop: ['admin'] } } }, top: ['RealmClient', 'app'] },
    grants: ['client/shop/admin'],
  }),
  permissible('RealmProtocolMapper', 'claim', { spec: { client: 'app', ...claim }, top: ['RealmClient', 'app'] }),
  permissible('RealmGroup', 'crew'),
  permissible('RealmGroup', 'team-crew', { spec: { clientRoles: { shop: ['admin'] } }, grants: ['client/shop/admin'] }),
  permissible('RealmUser', 'ann', { spec: { realmRoles: ['staff'] }, grants: ['realm/staff'] }),
  permissible('RealmUser', 'team-bob'),
  permissible('RealmClientScope', 'extra', { spec: { protocol: 'openid-connect' } }),
  never('RealmClient', 'shop', { redirectUris: ['https://evil.example/*'] }),
  never('RealmClient', 'account-console', { redirectUris: ['https://evil.example/*'] }),
  never('RealmClient', 'mine', { renamedFrom: 'shop' }),
  never('RealmRole', 'staff', { description: 'Taken' }),
  never('RealmRole', 'extra-role', { client: 'shop' }),
  never('RealmGroup', 'staff', { attributes: { a: ['b'] } }),
  never('RealmUser', 'eve', { clientRoles: { 'realm-management': ['realm-admin'] } }),
  never('RealmUser', 'mallory', { groups: ['/staff'] }),
  never('RealmClientScope', 'profile', { description: 'Taken' }),
  never('RealmProtocolMapper', 'evil', { client: 'shop', ...claim }),
  never('RealmProtocolMapper', 'evil', { clientScope: 'profile', ...claim }),
  never('RealmFlow', 'browser', { topLevel: true, providerId: 'basic-flow', authenticationExecutions: [] }),
]
const KINDS = [
  'RealmClient',
  'RealmRole',
  'RealmGroup',
  'RealmUser',
  'RealmClientScope',
  'RealmProtocolMapper',
  'RealmFlow',
]

const permissions = fc.record({
  kinds: fc.subarray(KINDS, { minLength: 1 }),
  names: fc.constantFrom(['*'], ['team-*', '/team-*'], ['app', '/crew']),
  roles: fc.subarray(['realm/staff', 'client/shop/*']),
})
const tenants = fc.array(fc.record({ permissions, attempts: fc.shuffledSubarray([...ATTEMPTS]) }), {
  minLength: 3,
  maxLength: 3,
})

const matches = (pattern: string, text: string) =>
  pattern.endsWith('*') ? text.startsWith(pattern.slice(0, -1)) : pattern === text

test(
  'tenants change nothing beyond their permissions, and their removal restores the realm',
  async () => {
    await fc.assert(
      fc.asyncProperty(tenants, async (all) => {
        const realm = newName()
        const owner = createSource(
          [
            {
              ...{ realm, enabled: true, displayName: 'Owned' },
              clients: [{ clientId: 'shop', redirectUris: ['https://shop.example/*'] }],
              roles: { realm: [{ name: 'staff' }], client: { shop: [{ name: 'admin' }] } },
              groups: [{ name: 'staff', realmRoles: ['staff'] }],
            },
          ],
          `owner-of-${realm}`,
        )
        await applySource(service, owner)
        const readRealm = () => service.read(SYSTEM, realm, (context) => exportRealm(context, {}))
        const before = await readRealm()
        for (const [at, { permissions: entry, attempts }] of all.entries()) {
          const toSource = (accepted: readonly Attempt[]) => ({
            ...createSource(
              accepted.map(({ kind, name, spec }) => ({
                apiVersion: 'regent.dev/v1alpha1',
                ...{ kind, metadata: { name }, spec: { realm, ...spec } },
              })),
              `tenant-${at}-of-${realm}`,
            ),
            sourcePermissions: { realms: [realm], tenant: [toTenantPermissions([entry])] },
          })
          let accepted: readonly Attempt[] = []
          for (const attempt of attempts) {
            const isApplied = await applySource(service, toSource([...accepted, attempt])).then(
              () => true,
              () => false,
            )
            if (!isApplied) continue
            accepted = [...accepted, attempt]
            const [kind, name] = attempt.top ?? expect.fail(`${attempt.kind} ${attempt.name} was applied`)
            expect(entry.kinds).toContain(kind)
            expect(entry.names.some((pattern) => matches(pattern, name))).toBe(true)
            for (const role of attempt.grants ?? [])
              expect(entry.roles.some((pattern) => matches(pattern, role))).toBe(true)
          }
          const [planned] = (await planSources(service, SYSTEM, [owner])).realms
          expect(planned?.plan.actions).toEqual([])
        }
        for (const at of all.keys())
          await applySource(service, {
            ...createSource([], `tenant-${at}-of-${realm}`),
            sourcePermissions: { realms: [realm] },
          })
        expect(await readRealm()).toEqual(before)
      }),
      { ...propertyOptions, numRuns: Math.ceil(propertyOptions.numRuns / 5) },
    )
  },
  TIME_LIMIT,
)
