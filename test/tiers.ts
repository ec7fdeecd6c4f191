// Which tests a run executes: `npm test` a sample of at most five minutes, a full run all of them.
import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** Names of test files by their folder; `*`: all of them. */
type TestFiles = Readonly<Record<string, readonly string[]>>

/** Files that start many processes, browsers or servers, or have many cases: `npm test` leaves them to the full run. */
const inFullRunOnly: TestFiles = {
  admin: [
    'cached-access',
    'cached-objects',
    'client-editors',
    'client-key-stores',
    'concurrent-privileges',
    'last-administrator',
    'list-visibility',
    'masked-secrets',
    'password-policies',
    'policed-clients',
    'revoked-permissions',
    'workflow-events',
    'workflow-runs',
    'workflow-steps',
    'workflows-and-administrators',
  ],
  browser: ['api-reference', 'applications', 'organization-invitations'],
  cli: [
    'accept-files',
    'audit-trail',
    'cancellation',
    'command-errors',
    'commit-status',
    'confirmation',
    'cut-over',
    'diff',
    'docs-commands',
    'drift-watch',
    'encrypted-files',
    'exit-codes',
    'first-hour',
    'git-source',
    'import',
    'import-terraform-state',
    'loaded-modules',
    'log-in',
    'notifications',
    'output-formats',
    'pipeline-tokens',
    'pipelines',
    'plan-against',
    'saved-plans',
    'source-credentials',
    'source-identity',
    'source-inputs',
    'sources-file',
    'terminal-behaviour',
    'traces',
    'validate',
    'variables',
    'wrong-input',
  ],
  conformance: ['fine-grained'],
  console: ['hostile-texts', 'large-stores', 'operations', 'pages'],
  '.': ['examples'],
  federation: ['active-directory', 'connections', 'login', 'synchronization', 'writes'],
  fuzz: ['schemathesis'],
  http: ['host-header', 'progress-stream'],
  login: ['hostile-input', 'organization-invitations', 'required-actions'],
  oidc: [
    'client-authentication',
    'client-certificates',
    'dpop',
    'key-stores',
    'keys',
    'lockout',
    'permission-tokens',
    'policed-requests',
    'protection-api',
    'registration/client-registration',
    'session-settings',
    'token-settings',
  ],
  operator: ['chart'],
  privileges: ['server'],
  reconcile: [
    'accept-files',
    'artifact-source',
    'documented-rules',
    'environments',
    'git-source',
    'keycloak-exports',
    'long-values',
    'recreated-objects',
    'saved-plans',
    'second-approver',
    'statement-counts',
  ],
  store: ['backup', 'earlier-store', 'erasure'],
}

/** Files that a full run executes on one engine only, since the other one cannot change what they find. */
const onPgliteOnly: TestFiles = {
  '.': ['examples'],
  browser: ['*'],
  cli: [
    'accept-files',
    'commit-status',
    'completion',
    'confirmation',
    'cut-over',
    'diff',
    'directory-export',
    'drift-watch',
    'encrypted-files',
    'exit-codes',
    'explain',
    'first-hour',
    'import',
    'import-terraform-state',
    'loaded-modules',
    'log-in',
    'network-errors',
    'notifications',
    'output-formats',
    'pipeline-tokens',
    'pipelines',
    'plan-against',
    'progress',
    'saved-plans',
    'source-commands',
    'source-credentials',
    'source-flags',
    'source-identity',
    'source-inputs',
    'sources-file',
    'store-key',
    'terminal-behaviour',
    'traces',
    'validate',
    'variables',
    'watched-folder',
    'wrong-input',
  ],
}
const onPostgresOnly: TestFiles = {
  admin: ['last-administrator', 'list-visibility'],
  console: ['*'],
  fuzz: ['schemathesis'],
  operator: ['*'],
  privileges: ['server'],
}

/** Returns the paths of the files that a run leaves out. `tests`: REGENT_TESTS. Throws if a listed file does not exist. */
export function listExcludedTests(tests: string | undefined, engine = 'pglite'): string[] {
  if (tests === 'sample') return toPaths(inFullRunOnly)
  if (tests === 'all') return toPaths(engine === 'postgres' ? onPgliteOnly : onPostgresOnly)
  return []
}

function toPaths(files: TestFiles): string[] {
  return Object.entries(files).flatMap(([folder, names]) =>
    names.map((name) => {
      const path = join('test', folder, `${name}.test.ts`)
      if (name !== '*' && !existsSync(join(import.meta.dirname, '..', path)))
        throw new Error(`test/tiers.ts lists ${path}, which does not exist.`)
      return path
    }),
  )
}
