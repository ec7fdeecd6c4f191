// Previews: throw-away realms in the state that a plan would lead to.
import { randomBytes } from 'node:crypto'
import { MASTER } from '../../kinds/built-in/index.ts'
import type { Representation } from '../../kinds/json.ts'
import { exportRealmWithoutUsers } from '../../realm-file/export/export-realm.ts'
import { toPreviewDocument } from '../../realm-file/export/preview-document.ts'
import { createPreviewRealm, type Preview } from '../../service/admin-api/realms/previews.ts'
import type { WriteContext } from '../../service/context/context.ts'
import { failure } from '../../service/context/errors.ts'
import { Rollback } from '../../service/context/store-types.ts'
import { prepareDeclaredState, skipHashing } from '../execute/credentials.ts'
import { executePlan } from '../execute/execute.ts'
import { type PlannedRealm, type RealmOutcome, toRealmOutcome } from '../execute/realm-outcome.ts'
import type { RunInput } from '../merge/merge-sources.ts'
import { authoritativeRelationsOfNewRealm } from '../model/default-role.ts'
import { isRealmDeletion } from '../plan/guards.ts'
import { dryRunRealm, type SourceRun } from '../run/reconcile.ts'
import { findPlanner, startRun } from '../run/run.ts'
import { importContent } from './import-content.ts'

/** Options of previews. */
export interface PreviewOptions {
  /** The last part of the names of the previews. An earlier preview with it is replaced. Default: random. */
  readonly label?: string | undefined
  /** The time until they are deleted, in seconds. */
  readonly seconds: number
}

/** A preview, and the outcome of its plan. */
export interface PlannedPreview extends Preview {
  readonly outcome: RealmOutcome
}

/**
 * Creates a preview of each realm that the sources change: a new realm in the state that the plan leads to, without users, secrets and
 * connections to other systems. Throws DocumentError, ActionError, forbidden; `invalid` for master.
 */
export async function createPreviews(
  input: RunInput,
  { label = randomBytes(4).toString('hex'), seconds }: PreviewOptions,
): Promise<PlannedPreview[]> {
  const { service, caller } = input
  const started = await startRun({ ...input, permission: 'plan-changes' })
  if (started.queue.realms.some(({ desired }) => desired.name === MASTER))
    throw failure('invalid', 'The master realm has no preview, since its administrators administer other realms.')
  const run = { ...started, caller: await findPlanner(started) }
  const planned: { readonly plan: PlannedRealm; readonly outcome: RealmOutcome }[] = []
  for (const realm of run.queue.realms) {
    let last: PlannedRealm | undefined
    const outcome = await dryRunRealm(run, realm, (plan) => {
      last = plan
    })
    if (last && (last.plan.creates || last.plan.actions.length) && !isRealmDeletion(last.plan))
      planned.push({ plan: last, outcome })
  }
  const previews: PlannedPreview[] = []
  for (const { plan, outcome } of planned) {
    const of = plan.desired.name
    const body = toPreviewDocument(await exportPlanned(run, plan), `${of}-preview-${label}`)
    const createContent = (context: WriteContext) =>
      importContent(context, body, { isAuthoritative: authoritativeRelationsOfNewRealm })
    const preview = await createPreviewRealm(service, caller, { of, body, seconds, createContent })
    previews.push({ ...preview, outcome })
  }
  return previews
}

/** Returns the document of a realm as the plan would change it. The plan is executed and rolled back. */
async function exportPlanned({ service, caller }: SourceRun, planned: PlannedRealm): Promise<Representation> {
  let document: Representation = {}
  await executePlan(service, caller, {
    planned,
    declared: await prepareDeclaredState(service, planned, skipHashing),
    isDryRun: true,
    finish: async (context, _applied, effects) => {
      document = await exportRealmWithoutUsers(context)
      throw new Rollback(toRealmOutcome(context, planned.plan, effects))
    },
  })
  return document
}
