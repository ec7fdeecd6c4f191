// Values of inventory rows that are encrypted in their files: sealed in the store, in plain text where they are compared.
import type { Json } from '../../kinds/json.ts'
import { isSealed, type Vault } from '../context/vault.ts'

/** The values of an inventory row, as far as they may be sealed. */
interface ManagedValues {
  readonly fields: Readonly<Record<string, Json>>
  readonly drifted?: Readonly<Record<string, Json>> | null
  readonly accepted?: Readonly<Record<string, Json>> | null
  readonly encrypted?: readonly string[]
}

/** Returns an inventory row as it is stored, with its encrypted values sealed. A text that looks like a sealed one is sealed as well. */
export function sealValues<Row extends ManagedValues>(vault: Vault, row: Row): Row {
  const forged = Object.keys(row.fields).filter((path) => isSealedValue(row.fields[path]!))
  const paths = [...(row.encrypted ?? []), ...forged]
  return paths.length ? mapValues(row, paths, (value) => vault.seal(JSON.stringify(value))) : row
}

/** Returns a stored inventory row with its sealed values in plain text, and their paths. */
export function openValues<Row extends ManagedValues>(vault: Vault, row: Row): Row {
  const paths = Object.keys(row.fields).filter((path) => isSealedValue(row.fields[path]!))
  if (!paths.length) return row
  const opened = mapValues(row, paths, (value) => JSON.parse(vault.open(String(value))))
  return { ...opened, encrypted: paths.sort() }
}

function mapValues<Row extends ManagedValues>(
  row: Row,
  paths: readonly string[],
  transform: (value: Json) => Json,
): Row {
  const isMapped = new Set(paths)
  const map = (values: Readonly<Record<string, Json>>) =>
    Object.fromEntries(
      Object.entries(values).map(([path, value]) => [path, isMapped.has(path) ? transform(value) : value]),
    )
  const { fields, drifted, accepted } = row
  return {
    ...row,
    fields: map(fields),
    ...(drifted && { drifted: map(drifted) }),
    ...(accepted && { accepted: map(accepted) }),
  }
}

const isSealedValue = (value: Json): boolean => typeof value === 'string' && isSealed(value)
