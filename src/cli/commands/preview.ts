// Previews: `regent preview create`, `list` and `delete`.

import type { PlannedPreview } from '../../reconcile/import/previews.ts'
import { formatTime } from '../../reconcile/model/attribution.ts'
import type { Preview } from '../../service/admin-api/realms/previews.ts'
import { request, type StoreFlags, withConnection } from '../connect.ts'
import { type Format, type OutcomeFlags, printOutcome, printTable } from '../print.ts'
import { readSource, type SourceFlags, serializeSource, toStoreFlags } from './source.ts'

const ADDRESS = '/regent/v1/previews'
/** The most hours of a preview, and the longest label, in characters. */
const [MAX_HOURS, MAX_LABEL] = [720, 40]

/** The flags of `regent preview create`. */
interface PreviewFlags extends StoreFlags, SourceFlags, OutcomeFlags {
  readonly label?: string
  readonly hours: number
}

/** `regent preview create`: creates a preview of each realm that the documents change, and prints the plans and addresses. */
export async function create(paths: readonly string[], flags: PreviewFlags): Promise<void> {
  const { hours } = flags
  if (hours > MAX_HOURS) throw new Error(`A preview lasts at most ${MAX_HOURS} hours. Pass fewer with --hours.`)
  const source = await readSource(paths, flags)
  const query = new URLSearchParams({ hours: String(hours), ...(flags.label && { label: toLabel(flags.label) }) })
  const previews = await withConnection({ ...flags, ...toStoreFlags(source, 'plan') }, 'fail', (connection) =>
    connection.request<(PlannedPreview & { readonly issuer: string })[]>('POST', `${ADDRESS}?${query}`, {
      body: serializeSource(source),
    }),
  )
  const outcome = { realms: previews.map(({ outcome }) => outcome), notes: [] }
  printOutcome(flags, outcome, { tense: 'planned', json: previews })
  if (flags.output === 'json') return
  for (const { realm, of, until, issuer } of previews)
    console.log(
      `Preview of ${of} until ${formatTime(until)}: ${flags.output === 'markdown' ? `\`${realm}\`` : realm}, issuer ${issuer}`,
    )
}

/** Returns a label without the characters that the name of a realm must not have, such as the slash of a branch. */
const toLabel = (text: string): string => text.replaceAll(/[^\w.-]+/g, '-').slice(0, MAX_LABEL)

/** `regent preview list`: lists the previews. */
export async function list(flags: StoreFlags & { readonly output: Format }): Promise<void> {
  const previews = await request<Preview[]>(flags, 'GET', ADDRESS)
  printTable(flags.output, previews, {
    head: ['Preview', 'Realm', 'Until'],
    rows: previews.map(({ realm, of, until }) => [realm, of, formatTime(until)]),
    none: 'There are no previews. "regent preview create" creates one.',
  })
}

/** `regent preview delete`: deletes a preview before its time. */
export async function remove(realm: string, flags: StoreFlags): Promise<void> {
  await request(flags, 'DELETE', `${ADDRESS}/${encodeURIComponent(realm)}`)
  console.log(`The preview ${realm} is deleted.`)
}
