// Renders the `regent apply` that a plan suggests, with the same flags.
import { quoteWord } from '../lib/quote-word.ts'
import { parseGitAddress, renderGitAddress } from '../reconcile/read/git-address.ts'
import type { SourceFlags } from './commands/source.ts'
import type { StoreFlags } from './connect.ts'
import { withoutPassword } from './store-place.ts'

/** Renders the command that applies a source with the flags of its plan, without credentials. */
export function renderApplyCommand(paths: readonly string[], flags: StoreFlags & SourceFlags): string {
  const options: Readonly<Record<string, string | readonly string[] | undefined>> = {
    name: flags.name,
    environment: flags.environment,
    ...listStoreOptions(flags),
    prune: flags.prune,
    drift: flags.drift,
    ownership: flags.ownership,
    'max-deletions': flags.maxDeletions,
    'max-deletions-share': flags.maxDeletionsShare,
    'unknown-fields': flags.unknownFields === 'error' ? undefined : flags.unknownFields,
    variables: flags.variables?.join(','),
    'age-key-file': flags.ageKeyFile,
  }
  const words = ['regent', 'apply', ...paths.map(renderPath), ...renderOptions(options)]
  const replacing = flags.replaceVariables ? ['--replace-variables'] : []
  return [
    ...words,
    ...replacing,
    ...(flags.strict ? ['--strict'] : []),
    ...(flags.allowLockOut ? ['--allow-lock-out'] : []),
  ]
    .map(quoteWord)
    .join(' ')
}

/** Renders a path or URL without credentials. */
function renderPath(path: string): string {
  const address = parseGitAddress(path)
  return address ? renderGitAddress(address) : path
}

/** Renders the command that applies a saved plan of the store that the flags name. */
export function renderApplyPlanCommand(plan: string, flags: StoreFlags): string {
  return ['regent', 'apply', '--plan', plan, ...renderOptions(listStoreOptions(flags))].map(quoteWord).join(' ')
}

function listStoreOptions(flags: StoreFlags): Record<string, string | undefined> {
  const { server, context, database, data, keyFile, user } = flags
  return {
    ...{ server, context, database: database && withoutPassword(database), data, 'key-file': keyFile, user },
    'login-realm': flags.loginRealm,
    'client-id': flags.clientId,
    'oidc-token': flags.oidcToken,
    'private-key-file': flags.privateKeyFile,
    'client-secret-file': flags.clientSecretFile,
  }
}

function renderOptions(options: Readonly<Record<string, string | readonly string[] | undefined>>): string[] {
  return Object.entries(options).flatMap(([name, value = []]) => [value].flat().flatMap((text) => [`--${name}`, text]))
}
