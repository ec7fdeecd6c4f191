// Realm files from other projects that both servers import, with changes.
import { existsSync, readFileSync } from 'node:fs'
import { load } from 'js-yaml'
import type { Representation } from '../../src/kinds/json.ts'

type Flow = { builtIn?: boolean; authenticationExecutions: { authenticator?: string }[] }

/** The folder of the files. It is next to the repository, not part of it. */
export const realmFiles = new URL('../../../shared/data/realms/', import.meta.url)

/** The imports by name, with their file and its changes. `new-realm` imports no file. */
export const realmImports: Readonly<Record<string, { file?: string; change?: (realm: Representation) => void }>> = {
  'new-realm': {},
  benchmark: { file: 'benchmark.yaml', change: replaceExtensionFlows },
  master: { file: 'master-export-26.5.5.json' },
  'servlet-authz-client': { file: 'servlet-authz-client.json' },
  'servlet-saml': { file: 'servlet-saml.json' },
  'rest-authz': { file: 'rest-authz.json' },
}

/** Returns the realm to import; undefined if its file does not exist. */
export function readImport(name: string, realm: string, folder = realmFiles): Representation | undefined {
  const { file, change } = realmImports[name]!
  if (!file) return { realm, enabled: true }
  const url = new URL(file, folder)
  if (!existsSync(url)) return undefined
  const content = load(readFileSync(url, 'utf8')) as Representation
  change?.(content)
  return { ...content, realm }
}

/** Replaces two authenticators of extensions, and removes built-in flows. */
function replaceExtensionFlows(realm: Representation): void {
  const replaced: Record<string, string> = {
    'auth-username-password-form-ip-check': 'auth-username-password-form',
    'custom-auth': 'direct-grant-validate-otp',
  }
  const flows = (realm.authenticationFlows as Flow[]).filter(({ builtIn }) => !builtIn)
  for (const execution of flows.flatMap(({ authenticationExecutions }) => authenticationExecutions))
    if (execution.authenticator) execution.authenticator = replaced[execution.authenticator] ?? execution.authenticator
  realm.authenticationFlows = flows
}
