// Realms with client policies.
import { testServer } from './server.ts'

/** An executor of a profile, by the id of its provider. */
export type TestExecutor = readonly [executor: string, configuration?: object]

export const anyClient = { condition: 'any-client', configuration: {} }

/** Returns the settings of a realm with one enabled policy. */
export const policySettings = (
  executors: readonly TestExecutor[],
  conditions: readonly object[] = [anyClient],
): { readonly clientProfiles: object; readonly clientPolicies: object } => ({
  clientProfiles: {
    profiles: [
      {
        name: 'strict',
        executors: executors.map(([executor, configuration = {}]) => ({ executor, configuration })),
      },
    ],
  },
  clientPolicies: { policies: [{ name: 'rules', enabled: true, conditions, profiles: ['strict'] }] },
})

/** Returns the settings of a realm whose clients are bound by global profiles. */
export const globalProfileSettings = (...profiles: readonly string[]) => ({
  clientPolicies: { policies: [{ name: 'rules', enabled: true, conditions: [anyClient], profiles }] },
})

/** Replaces the policies of a realm. */
export async function setPolicies(
  path: string,
  ...[executors, conditions]: Parameters<typeof policySettings>
): Promise<void> {
  const { call } = await testServer()
  const { status } = await call('PUT', path, { body: policySettings(executors, conditions) })
  if (status !== 204) throw new Error(`The policies of ${path} were refused with ${status}`)
}
