// The file with the key that protects secrets at rest.
import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

/** The key in the file: at least 32 bytes, base64url. `make`: a missing file is made, readable by its owner only. */
export async function readKey(file: string, make: boolean): Promise<Uint8Array> {
  const text = await readFile(file, 'utf8').catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT' || !make)
      throw new Error(`the key file ${file} cannot be read (${error.code}): name it with --key-file`)
    await mkdir(dirname(file), { recursive: true })
    const made = `${randomBytes(32).toString('base64url')}\n`
    await writeFile(file, made, { mode: 0o600, flag: 'wx' })
    return made
  })
  const key = Buffer.from(text.trim(), 'base64url')
  if (key.length < 32)
    throw new Error(
      `the key file ${file} must hold at least 32 bytes in base64url: make one with "openssl rand -base64 32"`,
    )
  return key
}
