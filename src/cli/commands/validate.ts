import { randomBytes } from 'node:crypto'
import { type DesiredRealm, readDesiredRealms } from '../../reconcile/merge/desired-realm.ts'
import type { SourceContent } from '../../reconcile/read/source-content.ts'
import { renderNote } from '../../reconcile/report/text-report.ts'
import type { RunOutcome } from '../../reconcile/run/run.ts'
import { openKeyStoreDirectory, UNKNOWN_KEY_STORES } from '../../service/context/key-store-directory.ts'
import { openPasswordBlacklists, type PasswordBlacklists } from '../../service/context/password-blacklists.ts'
import { openVault } from '../../service/context/vault.ts'
import { openVaultDirectory, type VaultDirectory } from '../../service/context/vault-directory.ts'
import { type StoreFlags, withConnection } from '../connect.ts'
import { runWithProgress } from '../terminal/interruption.ts'
import { readDocuments, readSource, type SourceFlags, serializeSource } from './source.ts'

/**
 * `regent validate`: plans documents, and prints what a plan refuses and notes. Without `--server` it plans them on a new store in
 * memory, which is discarded.
 */
export async function validate(path: string, flags: SourceFlags & StoreFlags): Promise<void> {
  const { server, strict } = flags
  const source = server === undefined ? await readDocuments(path, flags) : await readSource(path, flags)
  // Mistakes in the form of documents are found without a store.
  const realms = readDesiredRealms(source.documents, {
    vault: openVault(randomBytes(32)),
    unknownFields: source.unknownFields,
  })
  const outcome =
    server === undefined
      ? await runWithProgress(() => validateOnNewStore(source, { realms, strict }))
      : await withConnection(flags, 'fail', (connection) =>
          connection.request<RunOutcome>('POST', `/regent/v1/plan${strict ? '?strict=true' : ''}`, {
            body: serializeSource(source),
            reportsProgress: true,
          }),
        )
  const plans = new Map(outcome.realms.map(({ plan }) => [plan.realm, plan]))
  for (const { name, objects } of realms) {
    console.log(`realm ${name}: ${objects.size} ${objects.size === 1 ? 'object' : 'objects'}, valid`)
    for (const note of plans.get(name)?.notes ?? []) console.log(renderNote(note))
  }
  for (const note of outcome.notes) console.log(renderNote(note))
}

async function validateOnNewStore(
  source: SourceContent,
  options: { readonly realms: readonly DesiredRealm[]; readonly strict: true | undefined },
): Promise<RunOutcome> {
  const { openService } = await import('../../service/operations/open-service.ts')
  const { bootstrap } = await import('../../service/operations/bootstrap.ts')
  const { validateSource } = await import('../../reconcile/run/run.ts')
  const {
    REGENT_PASSWORD_LISTS: passwordLists,
    REGENT_VAULT_DIR: vaultDir,
    REGENT_KEY_STORE_DIR: keyStoreDir,
  } = process.env
  const service = await openService({
    location: {},
    key: randomBytes(32),
    passwordBlacklists: passwordLists ? openPasswordBlacklists(passwordLists) : UNKNOWN_BLACKLISTS,
    vaultDirectory: vaultDir ? openVaultDirectory(vaultDir) : UNKNOWN_VAULT,
    keyStoreDirectory: keyStoreDir ? openKeyStoreDirectory(keyStoreDir) : UNKNOWN_KEY_STORES,
  })
  try {
    await bootstrap(service)
    return await validateSource(service, source, options)
  } finally {
    await service.close()
  }
}

/** The password blacklists of a server, which are unknown: any list may exist. */
const UNKNOWN_BLACKLISTS: PasswordBlacklists = { has: () => true, contains: async () => false }

/** The vault of a server, which is unknown: any secret may exist. */
const UNKNOWN_VAULT: VaultDirectory = { isSet: true, read: async () => '' }
