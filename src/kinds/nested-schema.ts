// Schemas of representations with children, for documents and REST.
import * as z from 'zod'
import { kinds } from './index.ts'
import { getPluralTitle, type Kind } from './kind.ts'

/** Returns the shape of a representation with its id, children and alternative fields. */
export function nestedShape(kind: Kind, getSchema: (child: Kind) => z.ZodType): z.ZodRawShape {
  const fields = Object.entries(kind.schema.shape).filter(([name]) => !kind.fields[name]?.isSeparate)
  const children = listNestedChildren(kind).map(([field, child]) => [
    field,
    childrenSchema(child, getSchema(child))
      .nullish()
      .describe(`The ${getPluralTitle(child)} of the ${kind.title}.`),
  ])
  const alternatives = Object.entries(kind.alternativeFields).map(([field, description]) => [
    field,
    z.json().optional().describe(description),
  ])
  return {
    [kind.idField]: z.string().nullish().describe(`Id of the ${kind.title}. Used only on creation.`),
    ...Object.fromEntries([...fields, ...children, ...alternatives]),
  }
}

/** Returns the fields of a representation in REST that contain children, with their kinds. */
export function listNestedChildren(kind: Kind): [field: string, child: Kind][] {
  return Object.entries(kind.children)
    .map(([field, child]): [string, Kind] => [field, kinds[child]])
    .filter(([, child]) => !child.isSeparate)
}

/** Returns the schema of children: a list, or lists grouped by parent if children may also belong to the realm. */
export function childrenSchema(child: Kind, schema: z.ZodType): z.ZodType {
  if (!child.parentOptional) return z.array(schema)
  const groups = child.parents.map((parent) => [
    parent,
    z
      .record(z.string(), z.array(schema))
      .nullish()
      .describe(`The ${getPluralTitle(child)} of ${getPluralTitle(kinds[parent])}, by ${kinds[parent].naturalKey}.`),
  ])
  return z.strictObject({
    realm: z
      .array(schema)
      .nullish()
      .describe(`The ${getPluralTitle(child)} of the realm.`),
    ...Object.fromEntries(groups),
  })
}
