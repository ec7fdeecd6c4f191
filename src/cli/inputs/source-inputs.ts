// The inputs of a command: files, folders, and the standard input, which together are one source or a part of it.

import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { relative, resolve } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { type InputText, SourceError } from '../../reconcile/read/file-source.ts'
import { parseGitAddress } from '../../reconcile/read/git-address.ts'
import type { SourceLocation } from '../../reconcile/read/source-identity.ts'
import { printHint } from '../terminal/hint.ts'

/** The path of the standard input. */
const STANDARD_INPUT = '-'

/** The located inputs of a command. */
export interface SourceInputs<Location extends SourceLocation>
  extends Pick<SourceLocation, 'root' | 'origin' | 'scope' | 'environment'> {
  readonly inputs: readonly (string | InputText)[]
  /** The location of the first input. */
  readonly location: Location
}

/**
 * Locates inputs with `locate`, and reads those that are no files. Throws SourceError if they belong to several sources. What comes
 * from the standard input or a pipe is in no file, so nothing is deleted because of it.
 */
export async function openInputs<Location extends SourceLocation>(
  paths: readonly string[],
  locate: (path: string) => Promise<Location>,
): Promise<SourceInputs<Location>> {
  const inputs: (string | InputText)[] = []
  const locations: Location[] = []
  for (const path of paths) {
    if (parseGitAddress(path) && paths.length > 1) throw new SourceError(`${path}: pass the URL of a repository alone.`)
    const isStream = await isStreamPath(path)
    const location = await locate(isStream ? '.' : path)
    requireOneSource(locations[0], location, [paths[0]!, path])
    inputs.push(isStream ? await readStream(path) : location.path)
    locations.push(isStream ? { ...location, scope: [] } : location)
  }
  const location = locations[0]!
  const files = inputs.filter((input): input is string => typeof input === 'string')
  const outermost = files.filter((file) => !files.some((other) => other !== file && isInside(file, other)))
  return {
    inputs: [...new Set(inputs)].filter((input) => typeof input !== 'string' || outermost.includes(input)),
    location,
    root: location.root,
    origin: location.origin,
    environment: location.environment,
    scope: joinScopes(locations),
  }
}

async function isStreamPath(path: string): Promise<boolean> {
  if (path === STANDARD_INPUT) return true
  const stats = await stat(path).catch(() => undefined)
  return stats !== undefined && !stats.isFile() && !stats.isDirectory()
}

async function readStream(path: string): Promise<InputText> {
  if (path !== STANDARD_INPUT) return { file: path, bytes: await buffer(createReadStream(path)) }
  if (process.stdin.isTTY) printHint('Reading documents from the terminal, until Ctrl-D.')
  return { file: 'stdin', bytes: await buffer(process.stdin) }
}

function requireOneSource(first: SourceLocation | undefined, other: SourceLocation, [a, b]: [string, string]): void {
  if (!first || (first.name === other.name && first.root === other.root)) return
  throw new SourceError(
    `${a} and ${b} belong to different sources${first.name && other.name ? ` (${first.name}, ${other.name})` : ''}. Pass them one after the other, or their common folder.`,
  )
}

/** Returns the files and folders that are read; undefined if one is the whole source. */
function joinScopes(locations: readonly SourceLocation[]): readonly string[] | undefined {
  const scopes = locations.map(({ scope }) => scope)
  return scopes.includes(undefined) ? undefined : [...new Set(scopes.flatMap((scope = []) => scope))]
}

const isInside = (file: string, folder: string): boolean => !/^\.\.|^$/.test(relative(resolve(folder), resolve(file)))
