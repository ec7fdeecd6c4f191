import { mkdir } from 'node:fs/promises'

/** Creates a folder that only its owner can read, and its parents, unless it exists. @throws Error with the code FOLDER_NOT_CREATED. */
export async function createFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((cause: NodeJS.ErrnoException) => {
    const error = new Error(`The folder ${folder} cannot be created (${cause.code}).`, { cause })
    throw Object.assign(error, { code: 'FOLDER_NOT_CREATED' })
  })
}
