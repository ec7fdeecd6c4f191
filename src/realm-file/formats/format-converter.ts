// The interface of converters between a format of documents and Regent's own.
import type * as z from 'zod'
import type { Representation } from '../../kinds/json.ts'
import type { KindName } from '../../kinds/kind.ts'
import type { DocumentPath } from '../../lib/source-position.ts'
import type { ReportProblem } from '../check-structure.ts'

/** A converter of one part of a realm. Reading ignores values of wrong types, which are reported when the realm is checked. */
export interface FormatConverter {
  /** Converts a realm from the format of documents. */
  readonly read: (realm: Representation, context: ConversionContext) => Representation
  /** Converts a realm to the format of documents. */
  readonly write: (realm: Representation) => Representation
  /** Returns the schemas of the fields that documents write differently from representations. */
  readonly schemas?: (getSchema: (kind: KindName) => z.ZodType) => FieldSchemas
}

/** Schemas of fields, by kind and name. */
export type FieldSchemas = Readonly<Partial<Record<KindName, Readonly<Record<string, z.ZodType>>>>>

/** Records what a converter does. Paths are those in the document, except `to` and the path of a reference: those in the converted realm. */
export interface ConversionContext {
  readonly report: ReportProblem
  /** Adds a warning for a path. */
  readonly warn: (path: DocumentPath, message: string) => void
  /** Records that the value at `from` was moved to `to`. */
  readonly recordMove: (to: DocumentPath, from: DocumentPath) => void
  /** Records that the document only refers to the object at a path, and does not create it. */
  readonly markReference: (path: DocumentPath) => void
}

/** The paths of a value after and before its conversion. */
export interface Move {
  readonly to: DocumentPath
  readonly from: DocumentPath
}
