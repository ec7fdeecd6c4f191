// The client scopes that make tokens, with their mappers.
import { boolean, json, optional, type RowOf, row, rows, text } from './database/row.ts'
import type { Transaction } from './database/transaction.ts'

/** A protocol mapper as it is kept. */
export interface StoredMapper {
  readonly id: string
  readonly name: string
  readonly type: string
  readonly config: Readonly<Record<string, string>>
}

const mapperHolderRow = row({
  id: text,
  /** Name of the client scope; null: it is the client. */
  name: optional(text),
  /** Whether the scope of a token names it. */
  shown: boolean,
  mappers: json<readonly StoredMapper[]>(),
})

/** A client scope, or the client itself, with the protocol mappers that it has. */
export type MapperHolder = RowOf<typeof mapperHolderRow>

/** The id of a client, names of its client scopes, and the protocol of the mappers. */
export interface MapperSearch {
  readonly client: string
  readonly names: readonly string[]
  readonly protocol: string
}

/**
 * The client scopes of these names that the client has, and the client itself, with their mappers for its protocol: client
 * scopes by name, the client last. One statement.
 */
export async function selectMappers(
  tx: Transaction,
  realm: number,
  { client, names, protocol }: MapperSearch,
): Promise<MapperHolder[]> {
  return rows(mapperHolderRow)`
    with holder as (
      select s.id, s.name, coalesce(s.body -> 'attributes' ->> 'include.in.token.scope', 'true') <> 'false' as shown,
        s.id as client_scope, null::text as client
      from client_client_scope cs join client_scope s on s.realm = cs.realm and s.id = cs.client_scope
      where cs.realm = ${realm} and cs.client = ${client} and s.name = any(${names}::text[])
        and coalesce(s.body ->> 'protocol', 'openid-connect') = ${protocol}
      union all
      select ${client}, null, false, null, ${client}
    )
    select h.id, h.name, h.shown,
      (select coalesce(jsonb_agg(jsonb_build_object('id', m.id, 'name', m.name, 'type', m.body ->> 'protocolMapper',
          'config', coalesce(m.body -> 'config', '{}'::jsonb)) order by m.name), '[]')
        from protocol_mapper m
        where m.realm = ${realm} and (m.client_scope = h.client_scope or m.client = h.client)
          and coalesce(m.body ->> 'protocol', 'openid-connect') = ${protocol}) as mappers
    from holder h
    order by h.name nulls last`.all(tx)
}
