// The end of a source in git whose resource was deleted: what it stated goes, or is nobody's.
import { applySources } from '../../reconcile/run/run.ts'
import { type Service, SYSTEM } from '../../service/context/service.ts'
import type { Lease } from '../../service/context/store-types.ts'
import { forgetSourceInRealm, getAppliedAndPending } from '../../service/sources/source-records.ts'
import { saveSourceStatus } from '../../service/sources/source-status.ts'
import { type Fault, settingsOf } from '../desired.ts'
import { type Grounds, grantOf } from './grants.ts'
import type { GitSource } from './stated.ts'

/**
 * Ends it; gives what keeps it from ending. Realms that it may not touch any more stay as they are. Throws what a run throws:
 * something still needs what it states.
 */
export async function endSource(
  service: Service,
  source: GitSource,
  { lease, grounds }: { readonly lease: Lease; readonly grounds: Grounds },
): Promise<Fault | undefined> {
  const { name, namespace, leaves, resource } = source
  if (leaves === 'deleted') {
    if (resource.spec?.suspend === true)
      return { reason: 'Suspended', message: 'what it states goes when spec.suspend is false', meant: true }
    const { applied } = await getAppliedAndPending(service, [name])
    const realms = applied.map(({ realm, declaredName }) => declaredName ?? realm)
    const mine = realms.filter((realm) => 'ceiling' in grantOf(namespace, realm, true, grounds))
    const state = { name, revision: '', documents: [], files: [], settings: settingsOf(source) }
    const ends = { ...state, sourcePermissions: { realms: mine }, removals: { rest: 'deleted' as const } }
    const outcome = await applySources(service, { actor: { kind: 'source', source: name }, lease }, [ends])
    for (const { plan, pendingApproval, suspended } of outcome.realms) {
      if (pendingApproval) {
        const message = `the plan ${pendingApproval.plan} is pending approval: "regent approve ${pendingApproval.plan}"`
        return { reason: 'PendingApproval', message }
      }
      if (suspended)
        return {
          reason: 'RolledBack',
          message: `the realm ${plan.realm} was rolled back: "regent source resume ${name}"`,
        }
    }
  }
  const { applied } = await getAppliedAndPending(service, [name])
  for (const { realm } of applied)
    await service.write({ ...SYSTEM, lease }, realm, (context) => forgetSourceInRealm(context, name))
  await saveSourceStatus(service, lease, { source: name, status: {} })
  return undefined
}
