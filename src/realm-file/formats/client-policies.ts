// Client profiles and client policies: documents have each list in an object, and Regent has the lists.
import { wrapClientPolicies } from '../../kinds/client-policies.ts'
import { isList, isObject, type Json } from '../../kinds/json.ts'
import type { ConversionContext, FormatConverter } from './format-converter.ts'

/** Wraps the lists when writing. Reading warns of fields from versions 12 to 18 of Keycloak, which are ignored. */
export const clientPolicies: FormatConverter = {
  read(realm, context) {
    warnOfLegacyFields(realm.clientProfiles, { field: 'clientProfiles', list: 'profiles' }, context)
    warnOfLegacyFields(realm.clientPolicies, { field: 'clientPolicies', list: 'policies' }, context)
    return realm
  },
  write: wrapClientPolicies,
}

function warnOfLegacyFields(
  value: Json | undefined,
  { field, list }: { readonly field: string; readonly list: string },
  { warn }: ConversionContext,
): void {
  const elements = isObject(value) ? value[list] : value
  if (!isList(elements)) return
  for (const [at, element] of elements.entries()) {
    if (!isObject(element)) continue
    const path = [field, ...(isObject(value) ? [list] : []), at]
    const name = `${field}.${list}[${at}]`
    if (element.builtin === true)
      warn([...path, 'builtin'], `${name}: built-in ${list} belong to the server and are ignored`)
    else if (element.enable === true) warn([...path, 'enable'], `${name}: enable is ignored: set enabled instead`)
  }
}
