import { mkdir } from 'node:fs/promises'

/**
 * Creates a folder that only its owner can read, and its parents, unless it exists. `option`: the options that name the folder,
 * for the error.
 *
 * @throws Error if it cannot be created.
 */
export async function createFolder(folder: string, option: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((cause: NodeJS.ErrnoException) => {
    throw new Error(`The folder ${folder} cannot be created (${cause.code}). Check ${option}.`, { cause })
  })
}
