import type { UnknownFields } from '../../realm-file/parse.ts'
import type { Document } from '../../realm-file/yaml/document.ts'
import type { Ceiling } from '../../service/context/power.ts'
import type { SourceSettings } from '../../service/journal/source-settings.ts'
import type { Note } from '../model/action.ts'
import type { Unstated } from './unstated.ts'

/** A source on the wire. */
export interface SourceText {
  readonly name: string
  readonly revision: string
  readonly unknownFields?: UnknownFields | undefined
  readonly settings?: SourceSettings | undefined
  readonly files: readonly {
    readonly file: string
    readonly text: string
    /** Of each document of the file: values that stand in the place of texts with variables, by JSON pointer. */
    readonly values: readonly Readonly<Record<string, string>>[]
  }[]
}

/** What a source states at one moment. */
export interface SourceState {
  readonly name: string
  /** A git commit, or a digest of the files. */
  readonly revision: string
  /** In the form of a realm. */
  readonly documents: readonly Document[]
  /** What was left out when it was read. */
  readonly notices?: readonly Note[]
  /** What becomes of fields that Regent does not know; absent: an error. */
  readonly unknownFields?: UnknownFields | undefined
  /** What it settles about itself. */
  readonly settings?: SourceSettings | undefined
  /** The texts that were read: a plan that waits keeps them. */
  readonly files: SourceText['files']
  /** What it may touch, and give at most, besides what the caller may. */
  readonly ceiling?: Ceiling | undefined
  /** What becomes of what it states no more. */
  readonly unstated?: Unstated | undefined
}
