// The administrative roles that the last editor of a client could grant: no field of the client, and in no representation of it.
import { type RawBuilder, sql } from 'kysely'
import type { Transaction } from './database/transaction.ts'

/** A role by name, with the client that it belongs to. */
interface EditorRole {
  readonly client: string | null
  readonly name: string
}

/** The clients that an update of their rows records an editor of, and the roles that this editor can grant; null: all. */
export interface EditorRecord {
  readonly clients: readonly string[]
  readonly roles: readonly EditorRole[] | null
}

/** The part of an update of clients, called `t`, that records their editor. */
export function settingEditor({ clients, roles }: EditorRecord): RawBuilder<unknown> {
  const text = roles && JSON.stringify(roles)
  return sql`, editor_roles = case when t.id = any(${clients}::text[]) then ${text}::jsonb else t.editor_roles end`
}

/** Sets the roles that the editor of these clients could grant; null: all. One statement. */
export async function setEditorRoles(
  tx: Transaction,
  realm: number,
  { clients, roles }: { readonly clients: readonly string[]; readonly roles: readonly EditorRole[] | null },
): Promise<void> {
  const text = roles && JSON.stringify(roles)
  await sql`
    update client set editor_roles = ${text}::jsonb
    where realm = ${realm} and id = any(${clients}::text[]) and editor_roles is distinct from ${text}::jsonb`.execute(
    tx,
  )
}
