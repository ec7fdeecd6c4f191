// A realm as one document: an export. Stable in order; secrets are masked unless they are asked for.

import { assemble, flatten, isSecret } from '../kinds/compare.ts'
import type { Json } from '../kinds/fields.ts'
import { kinds } from '../kinds/index.ts'
import type { Representation } from '../kinds/kind.ts'
import { MASK } from '../kinds/mask.ts'
import { creationOrder } from '../kinds/order.ts'
import { joinTree } from '../kinds/tree.ts'
import { demand } from '../service/administrators.ts'
import type { Context } from '../service/context.ts'
import { credentialsOf } from '../service/credentials.ts'
import { writers } from '../service/index.ts'
import type { LiveObject } from '../service/live.ts'
import { shapedForExport } from './reshape.ts'
import { escapeVariables, mapTexts } from './substitute.ts'

/** What an export shows besides the rest. */
export interface ExportOptions {
  /** Secrets in the clear, for a full round trip; otherwise masked. */
  readonly secrets?: boolean
  /** Ids, which creation honours and nothing compares. */
  readonly ids?: boolean
}

/** The realm as a document in the form of Keycloak's realm export. A constant number of statements. */
export async function exportRealm(context: Context, options: ExportOptions = {}): Promise<Representation> {
  demand(context, 'manage-realm')
  const objects: LiveObject[] = []
  for (const kind of creationOrder) {
    const found = byParent(await writers[kind].list(context, {}))
    objects.push(...(kind === 'user' && options.secrets ? await withCredentials(context, found) : found))
  }
  const tree = joinTree(
    objects.map(({ kind, key, id, representation }) => ({
      kind,
      key,
      ...(options.ids && { id }),
      representation: shown(context, kind, representation, options),
      path: [],
    })),
  )
  // A text that looks like a variable must come back as it is.
  return mapTexts(shapedForExport(tree), [], escapeVariables) as Representation
}

/** In a list of the realm, the objects of one parent stand together: their own names may repeat. */
function byParent(objects: readonly LiveObject[]): readonly LiveObject[] {
  if (objects[0] && kinds[objects[0].kind].parentField === undefined) return objects
  return objects.toSorted((a, b) => Number(a.key.at(-2)! > b.key.at(-2)!) - Number(a.key.at(-2)! < b.key.at(-2)!))
}

/** Nobody compares what people log in with: it is read only where it is shown. */
async function withCredentials(context: Context, people: readonly LiveObject[]): Promise<LiveObject[]> {
  const credentials = await credentialsOf(context, people)
  return people.map((live) => {
    const own = credentials.get(live.id)
    return own ? { ...live, representation: { ...live.representation, credentials: own } } : live
  })
}

function shown(
  context: Context,
  name: LiveObject['kind'],
  representation: Representation,
  { secrets }: ExportOptions,
): Representation {
  const kind = kinds[name]
  const flat = Object.entries(flatten(kind, representation)).map(([path, value]): [string, Json] => {
    if (typeof value !== 'string' || !isSecret(kind, path)) return [path, value]
    return [path, secrets ? context.vault.open(value) : MASK]
  })
  const { [kind.naturalKey]: name_, ...rest } = assemble(kind, Object.fromEntries(flat))
  return { [kind.naturalKey]: name_!, ...rest }
}
