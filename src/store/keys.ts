// The key pairs that a realm signs with; private keys are sealed.
import { sql } from 'kysely'
import type { Json } from '../kinds/fields.ts'
import type { Transaction } from './database.ts'

/** A key pair as it is kept. */
export interface StoredKey {
  readonly id: string
  readonly algorithm: string
  readonly active: boolean
  readonly publicKey: { [member: string]: Json }
  /** Sealed. */
  readonly privateKey: string
  readonly certificate: string | null
}

/** The keys of a realm, active ones first. One statement. */
export async function selectRealmKeys(tx: Transaction, realm: number): Promise<StoredKey[]> {
  const { rows } = await sql<StoredKey>`
    select id, algorithm, active, public_key as "publicKey", private_key as "privateKey", certificate
    from realm_key where realm = ${realm} order by active desc, created_at desc`.execute(tx)
  return rows
}

/** Keeps a key, unless the realm has an active one for the algorithm already (another replica was faster). */
export async function insertRealmKey(tx: Transaction, realm: number, at: Date, key: StoredKey): Promise<void> {
  await sql`
    insert into realm_key (realm, id, algorithm, active, public_key, private_key, certificate, created_at)
    values (${realm}, ${key.id}, ${key.algorithm}, ${key.active}, ${JSON.stringify(key.publicKey)}::jsonb, ${key.privateKey},
      ${key.certificate}, ${at})
    on conflict do nothing`.execute(tx)
}
