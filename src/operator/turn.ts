// One turn of a realm: what it waits for, its run, and the approval that it has.
import { approve } from '../service/plans.ts'
import type { Service } from '../service/service.ts'
import { approverOf } from './approver.ts'
import type { RealmOf } from './desired.ts'
import { APPROVED, isReady, type Resource } from './resource.ts'
import { type Result, type RunOptions, runRealm } from './run.ts'

/** How a turn ended: with a run, or with what it waits for. */
export type Turned =
  | { readonly result: Result }
  | { readonly waits: { readonly reason: string; readonly message: string } }

/** Runs the realm, unless it waits. `dependencies`: see dependenciesOf. Throws what is nobody's fault. */
export async function turnOf(
  service: Service,
  realm: RealmOf,
  dependencies: readonly (Resource | string)[],
  options: RunOptions,
): Promise<Turned> {
  const { holder } = realm
  if (holder?.resource.spec?.suspend === true)
    return { waits: { reason: 'Suspended', message: `${holder.file} is suspended: nothing is applied to the realm` } }
  const missing = holder?.leaves ? [] : dependencies.filter((one) => typeof one === 'string' || !isReady(one))
  if (missing.length) {
    const names = missing.map((one) => (typeof one === 'string' ? one : one.metadata.name))
    return { waits: { reason: 'DependencyNotReady', message: `it waits until ready: ${names.join(', ')}` } }
  }
  const result = await runRealm(service, realm, options)
  const { guarded } = result
  if (!guarded || !holder || holder.resource.metadata.annotations?.[APPROVED] !== guarded.plan) return { result }
  await approve(service, { actor: approverOf(holder.resource) }, guarded.plan, false)
  return { result: await runRealm(service, realm, options) }
}

/** The realms that a realm waits for, by the names of their resources in its namespace; the name alone where there is none. */
export function dependenciesOf({ holder }: RealmOf, realms: ReadonlyMap<string, RealmOf>): (Resource | string)[] {
  const names = (holder?.resource.spec?.dependsOn ?? []) as string[]
  const holders = [...realms.values()].flatMap((one) => (one.holder ? [one.holder] : []))
  return names.map(
    (name) =>
      holders.find(({ resource, namespace }) => namespace === holder!.namespace && resource.metadata.name === name)
        ?.resource ?? name,
  )
}
