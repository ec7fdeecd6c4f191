import type { SourceState } from '../reconcile/run.ts'
import { readFileSource } from '../reconcile/sources/file.ts'
import type { SourceText } from '../reconcile/sources/text.ts'

/** What a file or folder states, with the variables of this process: whoever runs a command may read what they may read. */
export function readSource(path: string, name?: string): Promise<SourceState & SourceText> {
  return readFileSource(path, { name, env: process.env, allowed: () => true })
}

/** A source as it travels. */
export function wire({ name, revision, files }: SourceText): SourceText {
  return { name, revision, files }
}
