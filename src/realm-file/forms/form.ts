// What another form of a realm is: how it is read into the one that Regent keeps, and written back.
import type * as z from 'zod'
import type { Representation } from '../../kinds/json.ts'
import type { KindName } from '../../kinds/kind.ts'
import type { Path } from '../../lib/position.ts'
import type { Report } from '../form.ts'

/** One form, both ways. Reading leaves alone what it does not understand: whoever checks the realm says what is wrong. */
export interface Form {
  readonly read: (realm: Representation, notes: Notes) => Representation
  readonly write: (realm: Representation) => Representation
  /** Fields of kinds as documents write them in this form, where that is more than their description says. */
  readonly shapes?: (schemaOf: (kind: KindName) => z.ZodType) => Shapes
}

/** Schemas of fields, by kind and name. */
export type Shapes = Readonly<Partial<Record<KindName, Readonly<Record<string, z.ZodType>>>>>

/** What reading a form takes note of. Paths are those of the realm before, but for `to` and `named`. */
export interface Notes {
  readonly report: Report
  /** Tells of something at a path that stops nothing. */
  readonly note: (path: Path, message: string) => void
  /** What stands at `to` now, in the realm that is read, stood at `from`. */
  readonly moved: (to: Path, from: Path) => void
  /** The object at the path is only named: stating it does not make it. */
  readonly named: (path: Path) => void
}
