// The admin roles that the last editor of a client could grant. They are not part of the client's representation.
import { type RawBuilder, sql } from 'kysely'
import type { Transaction } from './database/transaction.ts'
import type { RoleName } from './roles.ts'

/** The editor to record for updated clients: the admin roles that the editor can grant; null: all. */
export interface ClientEditor {
  readonly clients: readonly string[]
  readonly roles: readonly RoleName[] | null
}

/** Returns the part of an update of clients `t` that records their editor. */
export function buildEditorAssignment({ clients, roles }: ClientEditor): RawBuilder<unknown> {
  const text = roles && JSON.stringify(roles)
  return sql`, editor_roles = case when t.id = any(${clients}::text[]) then ${text}::jsonb else t.editor_roles end`
}

/** Sets the admin roles that the editor of clients could grant; null: all. One statement. */
export async function setEditorRoles(
  tx: Transaction,
  realm: number,
  { clients, roles }: { readonly clients: readonly string[]; readonly roles: readonly RoleName[] | null },
): Promise<void> {
  const text = roles && JSON.stringify(roles)
  await sql`
    update client set editor_roles = ${text}::jsonb
    where realm = ${realm} and id = any(${clients}::text[]) and editor_roles is distinct from ${text}::jsonb`.execute(
    tx,
  )
}
