// Client profiles and policies: documents have each list in an object of its own, which the fields of the realm read.
import { wrapClientPolicies } from '../../kinds/client-policies.ts'
import { isObject, type Json, type Representation } from '../../kinds/json.ts'
import type { DocumentPath } from '../../lib/source-position.ts'
import type { ConversionContext, FormatConverter } from './format-converter.ts'

/** Lists of client profiles and policies, written in their objects. What versions 12 to 18 say besides is told. */
export const clientPolicies: FormatConverter = {
  read(realm, notes) {
    tellEarlier(realm.clientProfiles, 'clientProfiles', 'profiles', notes)
    tellEarlier(realm.clientPolicies, 'clientPolicies', 'policies', notes)
    return realm
  },
  write: wrapClientPolicies,
}

function tellEarlier(value: Json | undefined, field: string, list: string, { warn: note }: ConversionContext): void {
  const isWrapped = isObject(value ?? null)
  const elements = isWrapped ? (value as Representation)[list] : value
  if (!Array.isArray(elements)) return
  for (const [at, one] of elements.entries()) {
    if (!isObject(one)) continue
    const place: DocumentPath = [field, ...(isWrapped ? [list] : []), at]
    const name = `${field}.${list}[${at}]`
    if (one.builtin === true)
      note([...place, 'builtin'], `${name}: built-in ${list} belong to the server and are ignored`)
    else if (one.enable === true) note([...place, 'enable'], `${name}: enable is ignored: set enabled instead`)
  }
}
