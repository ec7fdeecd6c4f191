// Client scopes and clients with their protocol mappers, from which tokens are made.
import { boolean, json, optional, query, type RowOf, row, text } from './database/query.ts'
import type { Transaction } from './database/transaction.ts'

/** A stored protocol mapper. */
export interface StoredMapper {
  readonly id: string
  readonly name: string
  readonly type: string
  readonly config: Readonly<Record<string, string>>
}

const mapperContainerRow = row({
  id: text,
  /** Name of the client scope; null for the client. */
  name: optional(text),
  /** Whether the `scope` claim of tokens contains the name. */
  isInTokenScope: boolean,
  mappers: json<readonly StoredMapper[]>(),
})

/** A client scope, or the client itself, with its protocol mappers. */
export type MapperContainer = RowOf<typeof mapperContainerRow>

/** A client by id, names of its client scopes, and the protocol of the mappers. */
export interface MapperContainerSearch {
  readonly client: string
  readonly names: readonly string[]
  readonly protocol: string
}

/**
 * Returns the named client scopes that are assigned to the client, by name, and the client last, each with its mappers of the
 * protocol. One statement.
 */
export async function selectMapperContainers(
  tx: Transaction,
  realm: number,
  { client, names, protocol }: MapperContainerSearch,
): Promise<MapperContainer[]> {
  return query(mapperContainerRow)`
    with container as (
      select s.id, s.name, lower(coalesce(nullif(s.body -> 'attributes' ->> 'include.in.token.scope', ''), 'true')) = 'true' as "isInTokenScope",
        s.id as client_scope, null::text as client
      from client_client_scope cs join client_scope s on s.realm = cs.realm and s.id = cs.client_scope
      where cs.realm = ${realm} and cs.client = ${client} and s.name = any(${names}::text[])
        and coalesce(s.body ->> 'protocol', 'openid-connect') = ${protocol}
      union all
      select ${client}, null, false, null, ${client}
    )
    select h.id, h.name, h."isInTokenScope",
      (select coalesce(jsonb_agg(jsonb_build_object('id', m.id, 'name', m.name, 'type', m.body ->> 'protocolMapper',
          'config', coalesce(m.body -> 'config', '{}'::jsonb)) order by m.name), '[]')
        from protocol_mapper m
        where m.realm = ${realm} and (m.client_scope = h.client_scope or m.client = h.client)
          and coalesce(m.body ->> 'protocol', 'openid-connect') = ${protocol}) as mappers
    from container h
    order by h.name nulls last`.all(tx)
}
