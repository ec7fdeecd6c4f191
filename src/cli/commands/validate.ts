import { randomBytes } from 'node:crypto'
import { readDesiredRealms } from '../../reconcile/merge/desired-realm.ts'
import { FORMAT_VERSION, type Note } from '../../reconcile/model/action.ts'
import { renderNote } from '../../reconcile/report/text-report.ts'
import type { RunOutcome } from '../../reconcile/run/run.ts'
import { openVault } from '../../service/context/vault.ts'
import { type StoreFlags, withConnection } from '../connect.ts'
import { withNewStore } from '../new-store.ts'
import { type Format, print } from '../print.ts'
import { runWithProgress } from '../terminal/interruption.ts'
import { readDocuments, readSource, type SourceFlags, serializeSource, toStoreFlags } from './source.ts'

/**
 * `regent validate`: plans documents, and prints what a plan refuses and notes. Without `--server` it plans them on a new store in
 * memory, which is discarded.
 */
export async function validate(
  paths: readonly string[],
  flags: SourceFlags & StoreFlags & { readonly output: Format },
): Promise<void> {
  const { server, strict } = flags
  const source = server === undefined ? await readDocuments(paths, flags) : await readSource(paths, flags)
  // Mistakes in the form of documents are found without a store.
  const realms = readDesiredRealms(source.documents, {
    vault: openVault(randomBytes(32)),
    unknownFields: source.unknownFields,
  })
  const outcome =
    server === undefined
      ? await runWithProgress(() =>
          withNewStore(async (service) => {
            const { validateSource } = await import('../../reconcile/run/run.ts')
            return validateSource(service, source, { realms, strict })
          }),
        )
      : await withConnection({ ...flags, ...toStoreFlags(source, 'plan') }, 'fail', (connection) =>
          connection.request<RunOutcome>('POST', `/regent/v1/plan${strict ? '?strict=true' : ''}`, {
            body: serializeSource(source),
            reportsProgress: true,
          }),
        )
  const plans = new Map(outcome.realms.map(({ plan }) => [plan.realm, plan]))
  const validRealms = realms.map(({ name, objects }) => ({
    realm: name,
    objects: objects.size,
    notes: plans.get(name)?.notes ?? [],
  }))
  const { notes } = outcome
  print(
    flags.output,
    { formatVersion: FORMAT_VERSION, realms: validRealms, notes },
    {
      text: () => [...validRealms.flatMap(renderRealm), ...notes.map((note) => renderNote(note))].join('\n'),
    },
  )
}

const renderRealm = ({ realm, objects, notes }: { realm: string; objects: number; notes: readonly Note[] }) => [
  `realm ${realm}: ${objects} ${objects === 1 ? 'object' : 'objects'}, valid`,
  ...notes.map((note) => renderNote(note)),
]
