// Representations with children inside, as documents and bodies have them.
import * as z from 'zod'
import { kinds } from './index.ts'
import type { Kind } from './kind.ts'

/** What a representation may state: its fields, its id, its children, and other forms of them. */
export function nestedShape(kind: Kind, schemaOf: (child: Kind) => z.ZodType): z.ZodRawShape {
  const children = listNestedChildren(kind).map(([field, child]) => [
    field,
    childrenSchema(child, schemaOf(child)).nullish().describe(`Each ${child.title} of the ${kind.title}.`),
  ])
  const forms = Object.entries(kind.alternativeFields).map(([field, description]) => [
    field,
    z.json().optional().describe(description),
  ])
  const own = Object.entries(kind.schema.shape).filter(([name]) => !kind.fields[name]?.isSeparate)
  return {
    [kind.idField]: z
      .string()
      .nullish()
      .describe(`Id of the ${kind.title}; on creation a wish, otherwise without effect.`),
    ...Object.fromEntries([...own, ...children, ...forms]),
  }
}

/** The kinds whose objects stand inside a representation on the wire, by field. */
export function listNestedChildren(kind: Kind): [field: string, child: Kind][] {
  return Object.entries(kind.children)
    .map(([field, child]): [string, Kind] => [field, kinds[child]])
    .filter(([, child]) => !child.isSeparate)
}

/** Children as they stand in a representation: a list; where they may also belong to another parent, lists by parent. */
export function childrenSchema(child: Kind, one: z.ZodType): z.ZodType {
  if (!child.parentOptional) return z.array(one)
  const groups = child.parents.map((parent) => [
    parent,
    z.record(z.string(), z.array(one)).nullish().describe(`Lists by ${kinds[parent].title}.`),
  ])
  return z.strictObject({
    realm: z.array(one).nullish().describe('Those of the realm itself.'),
    ...Object.fromEntries(groups),
  })
}
