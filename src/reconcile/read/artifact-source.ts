// Reads the documents of a source from an artifact: a compressed tar archive of files at one revision, as the source-controller of Flux
// serves it.
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, realpath, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { extract, type Header } from 'tar-stream'
import { openStream } from '../../lib/http/http-request.ts'
import type { Outbound } from '../../lib/http/outbound.ts'
import { type CloneFolder, createCloneFolder } from './clone-folder.ts'
import { type FileSourceOptions, isDocumentFile, readFileSource, SourceError } from './file-source.ts'
import { RemoteError } from './git-command.ts'
import { toRequestCredentials } from './github-app.ts'
import { PROJECT_FILE } from './project-file.ts'
import type { SerializedSource, SourceContent } from './source-content.ts'
import { locateSource } from './source-identity.ts'

/** An artifact of a revision. */
export interface Artifact {
  readonly url: string
  /** The revision as Flux writes it, such as `main@sha1:<commit>`. */
  readonly revision: string
  /** Algorithm and value of the digest of the archive, such as `sha256:<hex>`. */
  readonly digest: string
}

/** Options of reading an artifact. */
export interface ArtifactSourceOptions
  extends Pick<FileSourceOptions, 'unknownFields' | 'env' | 'isAllowed' | 'findAgeKeys'> {
  readonly name: string
  /** An environment of the project file. */
  readonly environment?: string | undefined
  /** Its name in messages. */
  readonly displayName: string
  /** URL of the repository that the artifact was created from. */
  readonly repository: string
  /** A folder or file in the archive. Default: all of it. */
  readonly folder?: string | undefined
  readonly outbound: Outbound
  /** CA certificates in PEM that are accepted besides public ones. */
  readonly authorities?: string | undefined
  /** Seconds until the download must be complete. */
  readonly timeout?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** Maximum bytes of an archive. */
const MAX_ARCHIVE = 64 * 1024 * 1024
/** Maximum bytes of the files in an archive that are read. */
const MAX_CONTENT = 256 * 1024 * 1024
/** Maximum number of entries of an archive. */
const MAX_ENTRIES = 50_000
/** Seconds until the download must be complete, and milliseconds without data after which it ends. */
const [DEFAULT_TIMEOUT, IDLE_TIMEOUT] = [5 * 60, 30_000]

const DIGEST = /^(sha256|sha384|sha512):([\da-f]+)$/

/** Creates an empty folder for an artifact, without downloading it. */
export async function openArtifactSource(artifact: Artifact, options: ArtifactSourceOptions): Promise<ArtifactSource> {
  return new ArtifactSource(await createCloneFolder(), artifact, options)
}

/** A source with the files of one artifact, which is downloaded once. */
export class ArtifactSource {
  readonly address: string
  readonly #folder: CloneFolder
  readonly #artifact: Artifact
  readonly #options: ArtifactSourceOptions
  #attemptedRevision: string | undefined
  /** The folder with its files. Absent: it was not downloaded completely. */
  #root: string | undefined

  constructor(folder: CloneFolder, artifact: Artifact, options: ArtifactSourceOptions) {
    this.#folder = folder
    this.#artifact = artifact
    this.#options = options
    this.address = options.displayName
  }

  /** The revision that was read, whether it was valid or not. */
  get attemptedRevision(): string | undefined {
    return this.#attemptedRevision
  }

  /** Returns the revision of the artifact. */
  async fetchRevision(): Promise<string> {
    return this.#artifact.revision
  }

  /**
   * Reads the artifact. Throws RemoteError where the download fails, DocumentError where documents are invalid, SourceError where the
   * archive is not accepted or contains no documents.
   */
  async read(): Promise<SourceContent & SerializedSource> {
    const {
      name,
      folder = '',
      repository,
      unknownFields,
      env,
      isAllowed,
      findAgeKeys,
      displayName,
      environment,
    } = this.#options
    this.#attemptedRevision = this.#artifact.revision
    this.#root ??= await this.#download()
    const root = this.#root
    const path = join(root, folder)
    if (!(await stat(path).catch(() => undefined)))
      throw this.#refuse(`there is no file or folder ${folder}. Correct spec.folder, or add the file.`)
    const checkout = { root, getUrl: async () => repository }
    const location = await locateSource(path, { name, environment, isComplete: true }, checkout)
    const source = await readFileSource(location.path, {
      ...{ name, unknownFields, env, isAllowed, findAgeKeys, displayName, root },
      ...{ origin: location.origin, environment: location.environment },
    })
    return { ...source, revision: this.#artifact.revision }
  }

  /** Deletes the files. */
  close(): Promise<void> {
    return this.#folder.remove()
  }

  #refuse(reason: string): SourceError {
    return new SourceError(`${this.address} at ${this.#artifact.revision}: ${reason}`)
  }

  /** Downloads and unpacks the archive, and returns the folder with its files. */
  async #download(): Promise<string> {
    const { url, digest } = this.#artifact
    const [, algorithm, expected] = DIGEST.exec(digest) ?? []
    if (algorithm === undefined) throw this.#refuse(`the digest ${digest} is not supported. Use SHA-256.`)
    const { outbound, authorities, timeout = DEFAULT_TIMEOUT, signal } = this.#options
    const deadline = AbortSignal.timeout(timeout * 1000)
    const ending = signal ? AbortSignal.any([signal, deadline]) : deadline
    const fail = (reason: string) => new RemoteError(`${this.address}: ${url} cannot be downloaded: ${reason}`)
    const request = { idleTimeout: IDLE_TIMEOUT, signal: ending, credentials: toRequestCredentials(authorities) }
    const { ok, status, body } = await openStream(outbound, url, request).catch((error: Error) => {
      throw fail(error.message)
    })
    if (!ok) {
      body.on('error', () => {}).destroy()
      throw fail(`the response has status ${status}`)
    }
    const file = join(this.#folder.folder, 'artifact.tar.gz')
    const hash = createHash(algorithm)
    let isTooLong = false
    let size = 0
    const measure = new Transform({
      transform(chunk: Buffer, _encoding, callback) {
        size += chunk.length
        hash.update(chunk)
        isTooLong = size > MAX_ARCHIVE
        callback(isTooLong ? new Error('too long') : null, chunk)
      },
    })
    await pipeline(body, measure, createWriteStream(file)).catch(() => {
      if (isTooLong) throw this.#refuse(`the archive is longer than ${MAX_ARCHIVE} bytes`)
      throw fail('the connection was closed')
    })
    if (hash.digest('hex') !== expected) throw fail(`it does not have the digest ${digest}`)
    return this.#unpack(file)
  }

  /** Writes the documents in an archive to a folder. Other files, and files outside of the folder of the source, are not written. */
  async #unpack(file: string): Promise<string> {
    const root = join(await realpath(this.#folder.folder), 'files')
    await mkdir(root, { recursive: true })
    const entries = extract()
    const unpacked = pipeline(createReadStream(file), createGunzip(), entries)
    // The loop reports the failure.
    unpacked.catch(() => {})
    let [count, size] = [0, 0]
    try {
      for await (const entry of entries) {
        count++
        size += entry.header.size ?? 0
        if (count > MAX_ENTRIES || size > MAX_CONTENT)
          throw this.#refuse(`the archive has more than ${MAX_ENTRIES} entries or ${MAX_CONTENT} bytes`)
        const path = this.#selectPath(entry.header)
        if (path === undefined) entry.resume()
        else await writeEntry(join(root, path), entry)
      }
      await unpacked
    } catch (error) {
      throw error instanceof SourceError ? error : this.#refuse('it is not a valid gzip-compressed tar archive')
    }
    return root
  }

  /** Returns the path at which an entry is written; undefined if it is not needed. Throws SourceError for paths and links that are not safe. */
  #selectPath({ name, type }: Header): string | undefined {
    const steps = name.split('/').filter((step) => step !== '' && step !== '.')
    if (name.startsWith('/') || /[\\\0]/.test(name) || steps.includes('..'))
      throw this.#refuse(`the path ${JSON.stringify(name)} in the archive is not safe`)
    const path = steps.join('/')
    const { folder = '' } = this.#options
    if (folder !== '' && path !== folder && !path.startsWith(`${folder}/`)) return undefined
    if (type === 'directory') return undefined
    if (type !== 'file' && type !== 'contiguous-file')
      throw this.#refuse(`${path} is a link or a special file, which artifacts must not contain`)
    return isDocumentFile(path) || READ_FILES.includes(basename(path)) ? path : undefined
  }
}

/** Files that are read besides documents. */
const READ_FILES: readonly string[] = [PROJECT_FILE, '.regentignore']

async function writeEntry(file: string, content: AsyncIterable<unknown>): Promise<void> {
  const chunks: Uint8Array[] = []
  for await (const chunk of content) if (chunk instanceof Uint8Array) chunks.push(chunk)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, Buffer.concat(chunks))
}
