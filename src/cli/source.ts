import type { UnknownFields } from '../realm-file/parse.ts'
import type { SourceState } from '../reconcile/run.ts'
import { readFileSource } from '../reconcile/sources/file.ts'
import type { SourceText } from '../reconcile/sources/text.ts'

/** The flags that say how a source is read. */
export interface SourceFlags {
  readonly name?: string | undefined
  readonly unknownFields?: UnknownFields | undefined
  readonly allowLockOut?: true
}

/** What a file or folder states, with the variables of this process: whoever runs a command may read what they may read. */
export function readSource(path: string, flags: SourceFlags): Promise<SourceState & SourceText> {
  const { name, unknownFields } = flags
  return readFileSource(path, { name, unknownFields, env: process.env, allowed: () => true })
}

/** A source as it travels. */
export function wire({ name, revision, unknownFields, files }: SourceText): SourceText {
  return { name, revision, unknownFields, files }
}

/** What the caller says is meant, although it would be refused otherwise. */
export function approvals({ allowLockOut }: SourceFlags): Record<string, string> {
  return allowLockOut ? { 'regent-allow-lock-out': 'true' } : {}
}
